"use strict";
// Sorts tables by a click on a heading, filters the rows of the table behind a filter, zooms plots.
function setUpTables(root) {
  for (const table of root.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", event => {
      const heading = event.target.closest("th");
      if (heading) sortTable(table, heading);
    });
  }
  for (const filter of root.querySelectorAll("input.filter")) {
    const rows = [...filter.parentElement.querySelectorAll("tbody tr")];
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
    });
  }
  for (const plot of root.querySelectorAll("svg.zoom")) setUpZoom(plot);
}

function sortTable(table, heading) {
  const down = heading.ariaSort === "ascending";
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.ariaSort = down ? "descending" : "ascending";
  const column = heading.cellIndex, body = table.tBodies[0];
  const key = row => row.cells[column].textContent.trim();
  const number = text => parseFloat(text.replace(/(\d),(?=\d)/g, "$1"));
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  const rows = [...body.rows].map(row => [key(row), row]);
  rows.sort(([a], [b]) => down ? compare(b, a) : compare(a, b));
  body.append(...rows.map(([, row]) => row));
}

// Dragging shows the stretch of the horizontal axis that was dragged over; a double click shows all of it again.
function setUpZoom(plot) {
  const ticks = plot.parentElement.querySelector(".ticks");
  if (!ticks) return;
  const [from, to] = plot.dataset.x.split(" ").map(Number);
  const [left, top, width, height] = plot.getAttribute("viewBox").split(" ").map(Number);
  let shown = [from, to], begun = null;
  const at = event => {
    const box = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return shown[0] + share * (shown[1] - shown[0]);
  };
  const show = range => {
    shown = range;
    const x = left + width * (range[0] - from) / (to - from);
    plot.setAttribute("viewBox", `${x} ${top} ${width * (range[1] - range[0]) / (to - from)} ${height}`);
    const labels = [...ticks.children], y = labels[0].getAttribute("y");
    const step = niceStep((range[1] - range[0]) / 5);
    const numbers = [];
    for (let tick = Math.ceil(range[0] / step) * step; tick <= range[1]; tick += step) numbers.push(tick);
    ticks.replaceChildren(...numbers.map(tick => {
      const label = labels[0].cloneNode(false);
      label.setAttribute("x", left + width * (tick - range[0]) / (range[1] - range[0]));
      label.setAttribute("y", y);
      label.textContent = String(Math.round(tick * 1e6) / 1e6);
      return label;
    }));
  };
  // The area between lines takes part, too.
  const area = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["x", left], ["y", top], ["width", width], ["height", height], ["fill", "transparent"]]) area.setAttribute(name, value);
  plot.prepend(area);
  plot.addEventListener("pointerdown", event => { begun = at(event); plot.setPointerCapture(event.pointerId); });
  plot.addEventListener("pointerup", event => {
    const ended = at(event);
    if (begun !== null && Math.abs(ended - begun) > (shown[1] - shown[0]) / 50) show([Math.min(begun, ended), Math.max(begun, ended)]);
    begun = null;
  });
  plot.addEventListener("dblclick", () => show([from, to]));
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= least * 0.999);
}

setUpTables(document);
