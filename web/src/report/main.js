// The script of a report: figures become interactive when they come into view, and tables can be sorted.
import { theme, turn } from "../parts/theme.js";
import { add } from "../parts/add.js";
import { inlined } from "../save/inlined.js";
import { addSave } from "../save/menu.js";
import { drawLines } from "./lines.js";
import { drawSeries } from "./series.js";
import { makeSortable } from "./tables.js";

// Adds a save menu to a still figure. A chart has its numbers beside it; a picture drawn by another program has no
// numbers.
function addStill(figure) {
  const image = figure.querySelector("img"), numbers = figure.querySelector("script.numbers");
  const drawing = () => [...figure.querySelectorAll("svg.chart")].find((one) => one.checkVisibility()); // a phone shows the narrow one
  const title = figure.querySelector("figcaption")?.textContent || "chart", place = () => add(figure, "div", "", { class: "tools" });
  if (image) addSave(place(), title, () => ({ title, picture: () => image }), ["PNG"]);
  else if (numbers) addSave(place(), title, () => ({ title, picture: () => inlined(drawing(), title), rows: () => JSON.parse(numbers.textContent) }));
}

const draws = { series: drawSeries, lines: drawLines };
const seen = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((one) => one.isIntersecting)) {
    const script = target.querySelector("script");
    seen.unobserve(target);
    target.plot = draws[script.className](target, JSON.parse(script.textContent)); // for a console, and for tests
    target.classList.add("is-live");
  }
}, { rootMargin: "400px" });
for (const script of document.querySelectorAll("figure script:not(.numbers)")) seen.observe(script.closest("figure"));
document.querySelectorAll("figure").forEach(addStill);

const button = add(document.querySelector("header"), "button", "", { type: "button", class: "theme" });
button.addEventListener("click", turn);
theme.subscribe((now) => {
  button.textContent = now === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", `${button.textContent} colours`);
});

document.querySelectorAll("thead th").forEach(makeSortable);
