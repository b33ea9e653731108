// A comparison: differences with their intervals, drawn and in numbers, and a verdict for each.
import { html } from "./html.js";
import { Command } from "./copy.js";
import { download } from "../save/download.js";
import { Report } from "./report.js";
import { bounded, change, few, plain, rate, score, share, time } from "./numbers.js";

const CODE_NAME = /\b[a-z]+(_[a-z0-9]+)+\b/g;
const WIDTH = 220, HEIGHT = 18;
const shownIn = { "bit/s": rate, s: time, packets: few };
const shownAs = { call_score: score, loss_rate: share, utilisation: share };
export const shown = ({ metric, unit }, value) => (shownAs[metric] || shownIn[unit] || plain)(value, 3);

// The interval of a difference as a share of the reference, within ± the limit; the margin is the band. Of a
// reference of 0 there is no share.
function Interval({ row, limit }) {
  if (!row.reference) return null;
  const x = (value) => WIDTH / 2 + (Math.max(-1, Math.min(1, value / limit)) * (WIDTH - 12)) / 2;
  const part = (value) => value / Math.abs(row.reference);
  const margin = Math.max(row.margin.relative || 0, (row.margin.absolute || 0) / Math.abs(row.reference));
  return html`<svg class=${`interval v-${row.verdict}`} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
    <rect x=${x(-margin)} width=${x(margin) - x(-margin)} y="1" height=${HEIGHT - 2} class="warmup" />
    <path d=${`M${WIDTH / 2} 0V${HEIGHT}`} class="grid" />
    ${row.interval && html`<path d=${`M${x(part(row.interval.low))} 9H${x(part(row.interval.high))}`} class="line" />`}
    <circle cx=${x(part(row.difference))} cy="9" r="4" class="dot" />
  </svg>`;
}

// Scores are no ratios, and of a reference of 0 there is none: their differences are as the values are.
const plainly = (row) => {
  const said = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${shown(row, Math.abs(value))}`;
  const { difference, interval } = row;
  return interval ? `${said(difference)} [${said(interval.low)}, ${said(interval.high)}]` : said(difference);
};

const spread = (row) => {
  if (shownAs[row.metric] === score || !row.reference) return plainly(row);
  if (!row.interval) return change(row.reference, row.variant);
  const part = (value) => `${value >= 0 ? "+" : "−"}${share(Math.abs(value / row.reference), 2).replace(" %", "")}`;
  return `${change(row.reference, row.variant)} [${part(row.interval.low)}, ${part(row.interval.high)}]`;
};

export function Verdicts({ result, known }) {
  const names = [result.reference, result.variant], rows = result.rows.map((row) => bounded(row, known.bounds));
  const limits = rows.filter((row) => row.reference && row.interval)
    .map(({ reference, interval }) => Math.max(Math.abs(interval.low), Math.abs(interval.high)) / Math.abs(reference)).filter(Number.isFinite);
  const limit = Math.min(1, Math.max(0.05, ...limits)); // what more than doubles is drawn at the edge
  const groups = [...new Set(rows.map((row) => row.of))];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Verdicts"><table class="verdicts">
    <caption>${names[1]} against ${names[0]}, ${result.seeds.length} seeds: differences with intervals of 95 %. The band is the margin within which a difference does not matter.
      Equivalent: the interval of 90 % lies within the margin. Better or worse: it does not, and the interval of 95 % leaves out 0, after Holm's correction over all rows.</caption>
    <thead><tr><th scope="col">metric</th><th scope="col" class="n">${names[0]}</th><th scope="col" class="n">${names[1]}</th>
      <th scope="col" class="n">difference</th><th scope="col" class="wide">drawn from −${share(limit, 2)} to +${share(limit, 2)}</th><th scope="col">verdict for ${names[1]}</th></tr></thead>
    ${groups.map((name) => html`<tbody><tr class="group"><th colspan="6" scope="rowgroup">${name}</th></tr>
      ${rows.filter((row) => row.of === name).map((row) => html`<tr>
        <th scope="row" title=${`${row.metric}: ${known.meanings[row.metric] || ""}`}>${known.metrics[row.metric] || row.metric}</th><td class="n">${shown(row, row.reference)}</td><td class="n">${shown(row, row.variant)}</td>
        <td class="n">${spread(row)}</td><td><${Interval} row=${row} limit=${limit} /></td>
        <td><span class=${`verdict v-${row.verdict}`}>${row.verdict}</span>${row.seeds_that_would_decide ? html` <span class="note">about ${row.seeds_that_would_decide} seeds decide</span>` : ""}</td>
      </tr>`)}</tbody>`)}
  </table></div>
  ${result.notes.map((line) => html`<p class="note">${line.replace(CODE_NAME, (name) => known.metrics[name] || name)}</p>`)}`;
}

// A comparison as a report, as scenario files, and as the command that says the same of them.
export function TakeAlong({ command, files, report }) {
  const [reference, variant] = files.map(([name]) => name.replace(/\.toml$/, ""));
  return html`<${Report} label="Report of the comparison" name=${`${variant}-against-${reference}.html`} make=${report}>
      ${files.map(([name, toml]) => toml && html`<button type="button" onClick=${() => download(name, toml, "application/toml")}>Save ${name}</button>`)}<//>
    ${command ? html`<p class="note">The same comparison in a terminal, where ${files.map(([name]) => name).join(" and ")} were saved:</p><${Command} text=${command} label="Command of the comparison" />`
      : html`<p class="note">No command says the same: the seeds of these runs are not 1, 2, 3 and so on, two engines made them, or they were read from files.</p>`}`;
}
