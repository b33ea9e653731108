// Shows the dash of each line in the legend of an interactive figure, instead of a coloured square.
import { svg } from "../save/sheet.js";

const WIDE = 26, HIGH = 8;

// `lines`: {colour, dash} of the lines of the figure, in the order of the legend.
export function showDashes(u, lines) {
  const rows = Array.from(u.root.querySelectorAll(".u-legend .u-series:not(.aside)")).slice(1); // the first row is the axis
  rows.forEach((row, n) => {
    const { colour, dash } = lines[n], look = colour === null ? "" : `c${colour} `;
    const line = svg("svg", { class: `${look}dashes`, viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" }, svg("path", { d: `M0 ${HIGH / 2}H${WIDE}`, class: `line d${dash || 0}` }));
    row.querySelector(".u-marker").replaceWith(line);
  });
}
