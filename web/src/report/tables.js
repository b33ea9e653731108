// A click on a heading sorts the table: numbers by size, all other columns by name.
const size = (text) => parseFloat(text.replace(/[,+\s]/g, "").replace("−", "-")) || 0;
const inOrder = { numbers: (a, b) => size(a) - size(b), names: (a, b) => a.localeCompare(b, "en", { numeric: true }) };

function sort(heading) {
  const turn = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const body = heading.closest("table").tBodies[0], text = (row) => row.cells[heading.cellIndex].textContent;
  const order = heading.classList.contains("n") ? inOrder.numbers : inOrder.names;
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
  body.append(...[...body.rows].sort((a, b) => turn * order(text(a), text(b))));
}

export function makeSortable(heading) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  heading.append(button);
  button.addEventListener("click", () => sort(heading));
}
