// Lists the pages that have all words of the query, those with a word in the title first.
const pages = JSON.parse(document.getElementById("pages").textContent);
document.getElementById("query").addEventListener("input", event => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(word => word);
  const found = pages.map(page => {
    const title = page.title.toLowerCase(), text = title + " " + page.text.toLowerCase();
    return { page, text, all: words.every(word => text.includes(word)), titled: words.filter(word => title.includes(word)).length };
  }).filter(hit => words.length && hit.all).sort((a, b) => b.titled - a.titled);
  document.getElementById("hits").replaceChildren(...found.map(({ page }) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = page.file;
    link.textContent = page.title;
    const at = Math.max(0, page.text.toLowerCase().indexOf(words[0]) - 60);
    item.append(link, " … " + page.text.slice(at, at + 200) + " …");
    return item;
  }));
});
