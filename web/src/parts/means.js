// Means over seeds with their intervals, in numbers.
import { html } from "./html.js";
import { few, plain, rate, score, share, time } from "./numbers.js";

const shownIn = { "bit/s": rate, s: time, packets: few };
const shownAs = { call_score: score, loss_rate: share, utilisation: share };
const shown = ({ metric, unit }, value) => (shownAs[metric] || shownIn[unit] || plain)(value, 3);

export function Means({ result, known }) {
  const groups = [...new Set(result.rows.map((row) => row.of))];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Means"><table class="means">
    <caption>Means over ${result.seeds} seeds with Student's intervals of ${100 * result.level} %.</caption>
    <thead><tr><th scope="col">metric</th><th scope="col" class="n">mean</th><th scope="col" class="n">interval</th></tr></thead>
    ${groups.map((name) => html`<tbody><tr class="group"><th colspan="3" scope="rowgroup">${name}</th></tr>
      ${result.rows.filter((row) => row.of === name).map((row) => html`<tr>
        <th scope="row" title=${`${row.metric}: ${known.meanings[row.metric] || ""}`}>${known.metrics[row.metric] || row.metric}</th>
        <td class="n">${shown(row, row.mean)}</td>
        <td class="n">${shown(row, row.low)} to ${shown(row, row.high)}${row.n < result.seeds ? ` (${row.n} seeds)` : ""}</td>
      </tr>`)}</tbody>`)}
  </table></div>`;
}
