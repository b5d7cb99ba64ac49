// Asks the server for a newer page, and shows it without losing what is open or where the reader is.
async function watch() {
  let version = null;
  for (;;) {
    try {
      const now = await (await fetch("/version")).text();
      if (version !== null && now !== version) await refresh();
      version = now;
    } catch {
      // The server has ended, or is busy; it may come back.
    }
    await new Promise(resolve => setTimeout(resolve, 2000));
  }
}

async function refresh() {
  const page = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
  const open = [...document.querySelectorAll("main details")].map(details => details.open);
  const detail = document.getElementById("e-detail");
  const reads = detail && detail.hasChildNodes() && document.getElementById("examples-data").textContent === page.getElementById("examples-data").textContent;
  if (reads) page.getElementById("examples").replaceWith(document.getElementById("examples"));
  document.querySelector("main").replaceWith(page.querySelector("main"));
  document.getElementById("examples-data").replaceWith(page.getElementById("examples-data"));
  document.querySelector("nav").replaceWith(page.querySelector("nav"));
  const details = document.querySelectorAll("main details");
  if (details.length === open.length) details.forEach((one, i) => { one.open = open[i]; });
  setUpTables(document);
  if (!reads) setUpExamples();
}

watch();
