// Means over seeds with their confidence intervals. Names and numbers come from the server.
import { html } from "./html.js";

export function Means({ result, known }) {
  const groups = [...new Set(result.rows.map((row) => row.of))];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Means"><table class="means">
    <caption>Means over ${result.seeds} seeds with Student's intervals of ${100 * result.level} %.</caption>
    <thead><tr><th scope="col">metric</th><th scope="col" class="n">mean [interval]</th></tr></thead>
    ${groups.map((name) => html`<tbody><tr class="group"><th colspan="2" scope="rowgroup">${name}</th></tr>
      ${result.rows.filter((row) => row.of === name).map((row) => html`<tr>
        <th scope="row" title=${`${row.metric}: ${known.meanings[row.metric] || ""}`}>${row.shown.metric}</th>
        <td class="n">${row.shown.mean}${row.n < result.seeds ? ` (${row.n} seeds)` : ""}</td>
      </tr>`)}</tbody>`)}
  </table></div>`;
}
