// The example browser. Texts of runs only ever become text nodes.
function setUpExamples() {
  const data = JSON.parse(document.getElementById("examples-data").textContent);
  const list = document.getElementById("e-list");
  if (!list || !data.runs.length) return;
  const ROW = 24, space = document.getElementById("e-space"), detail = document.getElementById("e-detail");
  const control = name => document.getElementById("e-" + name);
  let run, examples, table, found = [], chosen = -1;

  const code = c => { const n = c.codePointAt(0); return (n >= 0xe000 ? n - 0x800 : n) - data.first; };
  const character = place => { const n = place + data.first; return String.fromCodePoint(n >= 0xd800 ? n + 0x800 : n); };
  const tokens = text => Array.from(text, c => table.vocabulary[code(c)]);
  const predicted = i => examples.predictions[i] ?? table.targets[i];
  const id = i => `${table.part}_${String(table.positions ? table.positions[i] : i).padStart(8, "0")}`;
  const cut = (text, most) => text.length > most ? text.slice(0, most) + "…" : text;

  function option(value, text) {
    const made = document.createElement("option");
    made.value = value;
    made.textContent = text;
    return made;
  }

  function chooseRun() {
    run = data.runs[control("run").value || 0];
    examples = run.examples;
    table = data.tables[examples.table];
    // Where the numbers of each wrong example are.
    let wrong = 0;
    run.places ??= examples.verdicts.map(verdict => verdict ? wrong++ : -1);
    const counts = new Array(examples.reasons.length + 1).fill(0);
    for (const verdict of examples.verdicts) counts[verdict]++;
    const reasons = examples.reasons.slice(0, 200).map((reason, i) => option(i + 1, `${cut(show(reason), 80)} (${counts[i + 1]})`));
    control("reason").replaceChildren(option("", "any"), ...reasons);
    control("fact").replaceChildren(option("", "any"), ...table.facts.map((fact, i) => option(i, fact.name)));
    chooseFact();
  }

  function chooseFact() {
    const fact = table.facts[control("fact").value];
    control("value").replaceChildren(option("", "any"), ...(fact ? fact.values.map((value, i) => option(i, cut(show(value), 80))) : []));
    filter();
  }

  // A pattern over encoded texts: for each word of the query a class of the tokens that have it.
  function pattern(query) {
    const words = query.trim().split(/\s+/).filter(word => word);
    if (!words.length) return null;
    const classes = words.map(word => {
      const places = [];
      table.vocabulary.forEach((token, place) => { if (token.includes(word)) places.push(place); });
      return places.map(place => `\\u{${character(place).codePointAt(0).toString(16)}}`).join("");
    });
    return classes.every(places => places) ? new RegExp(classes.map(places => `[${places}]`).join(""), "u") : false;
  }

  function filter() {
    const verdict = control("verdict").value, reason = Number(control("reason").value);
    const fact = table.facts[control("fact").value], value = control("value").value;
    const wanted = fact && value !== "" ? Number(value) : -1;
    const expression = pattern(control("text").value);
    found = [];
    for (let i = 0; i < examples.verdicts.length; i++) {
      const own = examples.verdicts[i];
      if (verdict === "wrong" && !own || verdict === "right" && own) continue;
      if (reason && own !== reason) continue;
      if (wanted >= 0 && fact.rows[i] !== wanted) continue;
      if (expression === false) continue;
      if (expression && !(expression.test(table.inputs[i]) || expression.test(table.targets[i]) || expression.test(predicted(i)))) continue;
      found.push(i);
    }
    control("count").textContent = `${found.length.toLocaleString("en")} of ${examples.verdicts.length.toLocaleString("en")}`;
    // Browsers draw no elements that are millions of pixels high.
    space.style.height = Math.min(found.length * ROW, 8e6) + "px";
    list.scrollTop = 0;
    draw();
  }

  // Only rows that can be seen are elements.
  function draw() {
    const height = parseFloat(space.style.height) || 0, seen = Math.ceil(list.clientHeight / ROW) + 1;
    const scale = found.length * ROW > height ? (found.length * ROW - list.clientHeight) / Math.max(1, height - list.clientHeight) : 1;
    const first = Math.max(0, Math.min(found.length - 1, Math.floor(list.scrollTop * scale / ROW)));
    const rows = [];
    for (let n = first; n < Math.min(found.length, first + seen); n++) {
      const i = found[n], right = !examples.verdicts[i];
      const row = document.createElement("div");
      row.className = "row" + (n % 2 ? "" : " even") + (i === chosen ? " chosen" : "");
      row.style.top = (scale === 1 ? n * ROW : list.scrollTop + (n - first) * ROW) + "px";
      row.dataset.example = i;
      const cell = (text, name) => {
        const made = document.createElement("span");
        made.textContent = show(cut(text, 300));
        made.className = name || "";
        row.append(made);
      };
      cell(id(i));
      cell(right ? "✓" : "✗", right ? "right" : "wrong");
      cell(tokens(table.inputs[i].slice(0, 300)).join(table.separators[0]));
      cell(tokens(predicted(i).slice(0, 300)).join(table.separators[1]));
      rows.push(row);
    }
    space.replaceChildren(...rows);
  }

  // Characters that cannot be seen, or that turn the direction of the text, are spelt out.
  function show(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
      c => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
  }

  // Which tokens of two lists are not in their longest common subsequence; of long lists all between equal ends.
  function differing(a, b) {
    let start = 0, end = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start++;
    while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
    const x = a.slice(start, a.length - end), y = b.slice(start, b.length - end);
    const marks = [new Set(), new Set()];
    if (x.length * y.length > 250000) {
      x.forEach((_, i) => marks[0].add(start + i));
      y.forEach((_, i) => marks[1].add(start + i));
      return marks;
    }
    const best = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
    for (let i = x.length - 1; i >= 0; i--)
      for (let j = y.length - 1; j >= 0; j--)
        best[i][j] = x[i] === y[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    for (let i = 0, j = 0; i < x.length || j < y.length;) {
      if (i < x.length && j < y.length && x[i] === y[j]) { i++; j++; }
      else if (j >= y.length || i < x.length && best[i + 1][j] >= best[i][j + 1]) marks[0].add(start + i++);
      else marks[1].add(start + j++);
    }
    return marks;
  }

  // Tokens with the marked ones in elements, one for each stretch of them: there may be a hundred thousand tokens.
  function marked(words, separator, marks, name) {
    const box = document.createElement("div");
    box.className = "tokens";
    for (let i = 0; i < words.length;) {
      const is = marks.has(i), stretch = [];
      for (; i < words.length && marks.has(i) === is; i++) stretch.push(show(words[i]) || (is ? "␣" : ""));
      const text = stretch.join(separator);
      if (is) {
        const mark = document.createElement("mark");
        mark.className = name;
        mark.textContent = text;
        box.append(mark);
      } else box.append(text);
      if (i < words.length) box.append(separator);
    }
    return box;
  }

  function open(i) {
    chosen = i;
    const body = document.createElement("tbody");
    const line = (name, ...content) => {
      const row = body.insertRow(), heading = document.createElement("th");
      heading.textContent = name;
      row.append(heading);
      row.insertCell().append(...content);
    };
    const text = words => { const box = document.createElement("div"); box.className = "tokens"; box.textContent = show(words); return box; };
    const picture = url => { const image = document.createElement("img"); image.src = url; image.alt = ""; return image; };
    const verdict = examples.verdicts[i];
    line("id", id(i));
    line("input", text(tokens(table.inputs[i]).join(table.separators[0])));
    if (table.pictures?.[i]) line("picture", picture(table.pictures[i]));
    const target = tokens(table.targets[i]), prediction = tokens(predicted(i)), separator = table.separators[1];
    const [missing, extra] = differing(target, prediction);
    line("target", marked(target, separator, missing, "missing"));
    line("prediction", prediction.length ? marked(prediction, separator, extra, "extra") : text("(empty)"));
    if (verdict) {
      const numbers = examples.numbers[run.places[i]].split(" ");
      line("wrong because", show((examples.reasons[verdict - 1] || "").replace(/#/g, () => numbers.shift() ?? "#")));
    } else line("verdict", "right");
    for (const fact of table.facts) line(fact.name, show(fact.values[fact.rows[i]]));
    if (examples.trees?.[i]) line("derivation", picture(examples.trees[i]));
    if (examples.explanations?.[i]) line("explanation", ...examples.explanations[i].split("\n").map(text));
    const made = document.createElement("table");
    made.className = "facts";
    made.append(body);
    detail.replaceChildren(made);
    draw();
  }

  control("run").replaceChildren(...data.runs.map((run, i) => option(i, show(run.name))));
  control("run").addEventListener("change", chooseRun);
  control("fact").addEventListener("change", chooseFact);
  for (const name of ["verdict", "reason", "value", "text"]) control(name).addEventListener("input", filter);
  list.addEventListener("scroll", draw);
  list.addEventListener("click", event => { const row = event.target.closest(".row"); if (row) open(Number(row.dataset.example)); });
  list.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !found.length) return;
    event.preventDefault();
    const n = Math.max(0, Math.min(found.length - 1, found.indexOf(chosen) + step));
    if (n * ROW < list.scrollTop) list.scrollTop = n * ROW;
    if ((n + 2) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (n + 2) * ROW - list.clientHeight;
    open(found[n]);
  });
  chooseRun();
}

setUpExamples();
