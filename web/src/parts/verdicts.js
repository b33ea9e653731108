// A comparison: its conclusion, and a table of findings with their verdicts. Words and numbers come from the server.
import { copied } from "../save/inlined.js";
import { download } from "../save/download.js";
import { sheet, svg, widthOf } from "../save/sheet.js";
import { Command } from "./copy.js";
import { html, useRef, useState } from "./html.js";
import { count, share } from "./numbers.js";
import { Report } from "./report.js";
import { Save } from "./save.js";
import { inLight } from "./theme.js";

const CODE_NAME = /\b[a-z]+(_[a-z0-9]+)+\b/g;
const WIDTH = 150, HEIGHT = 18, END = 6; // size of a drawn interval, and room for a dot at both ends
const MOST_ROWS = 12; // rows shown until the user asks for all
const EDGE = { least: 0.05, most: 1 }; // smallest and largest limit of the axis, as shares of the reference: differences above 100 % are drawn at the end of the axis
const ROW = { height: 22, top: 24, between: 16 }; // sizes in a saved picture

// The interval of a difference as a share of the reference, drawn on an axis from -limit to +limit. The band is the
// margin.
function Interval({ finding, limit }) {
  if (!finding.share) return null;
  const { value, low, high, margin } = finding.share;
  const x = (part) => WIDTH / 2 + (Math.max(-1, Math.min(1, part / limit)) * (WIDTH - 2 * END)) / 2;
  return html`<svg class=${`interval v-${finding.verdict}`} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
    <rect x=${x(-margin)} width=${x(margin) - x(-margin)} y="1" height=${HEIGHT - 2} class="warmup" />
    <path d=${`M${WIDTH / 2} 0V${HEIGHT}`} class="grid" />
    ${low !== null && high !== null && html`<path d=${`M${x(low)} 9H${x(high)}`} class="line" />`}
    <circle cx=${x(value)} cy="9" r="4" class="dot" />
  </svg>`;
}

const unfinished = ({ unfinished: of }) => (of && (of.reference.unfinished || of.variant.unfinished)
  ? `unfinished: ${count(of.reference.unfinished)} of ${count(of.reference.began)}, ${count(of.variant.unfinished)} of ${count(of.variant.began)}` : "");
const isExplained = ({ rule }) => rule === "lacking" || rule === "demanded";
const more = (finding) => (isExplained(finding) ? finding.reason
  : finding.seeds_that_would_decide ? `about ${count(finding.seeds_that_would_decide)} seeds in total would decide` : "");

function Row({ finding, limit, meaning }) {
  const [reference, other] = finding.texts.means, note = unfinished(finding);
  return html`<tr><td class="of">${finding.texts.of}</td>
    <th scope="row" title=${`${finding.metric}: ${meaning || ""}`}>${finding.texts.metric}${note && html` <span class="note">${note}</span>`}</th>
    <td><span class=${`verdict v-${finding.verdict}`} title=${finding.reason}>${finding.verdict}</span> <span class="note">${more(finding)}</span></td>
    <td class="n" title=${`margin: ${finding.texts.margin}`}>${finding.texts.difference}</td><td class="drawn-interval"><${Interval} finding=${finding} limit=${limit} /></td>
    <td class="n">${reference}</td><td class="n">${other}</td></tr>`;
}

const HEAD = ["of", "metric", "unit", "mean", "mean", "difference", "low", "high", "level", "p, corrected", "margin", "verdict", "seeds that would decide"];
function csvRows(findings, names) {
  const head = HEAD.map((name, n) => (n === 3 || n === 4 ? `${name} of ${names[n - 3]}` : name));
  return [head, ...findings.map((one) => [
    one.of, one.metric, one.unit, ...one.means, one.difference, one.interval?.low, one.interval?.high, one.interval?.level, one.p_corrected, one.allowed, one.verdict, one.seeds_that_would_decide,
  ])];
}

// The visible rows as a picture: names, drawn intervals, verdicts, differences.
const pictureOf = (table, title, axis) => inLight(() => {
  const rows = Array.from(table.querySelectorAll("tbody tr"), (row) => ({
    name: `${row.cells[0].textContent}: ${row.cells[1].firstChild.textContent}`, interval: row.querySelector("svg"), verdict: row.querySelector(".verdict"), difference: row.cells[3].textContent,
  }));
  const widest = (texts, weight) => Math.max(...texts.map((text) => widthOf(text, 12, weight))) + ROW.between;
  const drawnAt = ROW.between + widest(rows.map((row) => row.name)), verdictAt = drawnAt + WIDTH + ROW.between;
  const differenceAt = verdictAt + widest(rows.map((row) => row.verdict.textContent), 600), width = differenceAt + widest(rows.map((row) => row.difference));
  const text = (content, x, y, look) => svg("text", { x, y, "font-size": 12, ...look }, content);
  const drawn = rows.flatMap(({ name, interval, verdict, difference }, n) => {
    const y = ROW.top + n * ROW.height;
    return [
      text(name, drawnAt - ROW.between, y + 13, { "text-anchor": "end" }),
      ...(interval ? [svg("svg", { x: drawnAt, y, width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` }, ...Array.from(interval.children, copied))] : []),
      text(verdict.textContent, verdictAt, y + 13, { fill: getComputedStyle(verdict).color, "font-weight": 600 }), text(difference, differenceAt, y + 13),
    ];
  });
  const head = text(axis, drawnAt + WIDTH / 2, 14, { "text-anchor": "middle" });
  return sheet({ title, width: Math.ceil(width), height: ROW.top + rows.length * ROW.height + 8 }, svg("g", {}, head, ...drawn));
});

// `result`: a comparison in the form of `cli/ui/compare.py`.
export function Verdicts({ result, known }) {
  const [isWhole, setIsWhole] = useState(false), place = useRef(null);
  const names = [result.reference, result.variant], findings = result.findings.map((one, n) => ({ ...one, texts: result.shown[n], share: result.shown[n].share }));
  const rows = isWhole ? findings : findings.slice(0, MOST_ROWS);
  const ends = rows.filter((one) => one.share?.low !== null && one.share).map((one) => Math.max(Math.abs(one.share.low), Math.abs(one.share.high)));
  const limit = Math.min(EDGE.most, Math.max(EDGE.least, ...ends)), axis = `−${share(limit, 2)} to +${share(limit, 2)}`;
  const title = `${names[1]} against ${names[0]}, ${result.seeds.length} seeds`;
  const chart = () => ({ title, picture: () => pictureOf(place.current, title, axis), rows: () => csvRows(findings, names) });
  return html`<div class="conclusion">${result.conclusion.map((sentence, n) => html`<p class=${n ? "" : "sentence"}>${sentence}</p>`)}</div>
    <div class="scroll" tabindex="0" role="group" aria-label="Verdicts"><table class="verdicts" ref=${place}>
    <caption>${title}: differences with 95 % intervals. <${Save} title=${title} chart=${chart} /></caption>
    <thead><tr><th scope="col">flows or link</th><th scope="col">metric</th><th scope="col">verdict for ${names[1]}</th><th scope="col" class="n">difference</th>
      <th scope="col" class="drawn-interval">${axis}</th><th scope="col" class="n">${names[0]}</th><th scope="col" class="n">${names[1]}</th></tr></thead>
    <tbody>${rows.map((finding) => html`<${Row} key=${`${finding.kind} ${finding.entry} ${finding.of} ${finding.metric}`} finding=${finding} limit=${limit} meaning=${known.meanings[finding.metric]} />`)}</tbody>
  </table></div>
  ${findings.length > MOST_ROWS && html`<p class="buttons"><button type="button" aria-expanded=${isWhole} onClick=${() => setIsWhole(!isWhole)}>${isWhole ? `The first ${MOST_ROWS} rows` : `All ${count(findings.length)} rows`}</button></p>`}
  <details class="how"><summary>Rules of verdicts</summary>
    <p>Equivalent: the 90 % interval is within the margin (the grey band), so the difference does not matter. If a margin has two parts, the larger part applies. Better or worse: not equivalent, and p is below 0.05 after Holm's correction over all rows.
      The drawn 95 % intervals are uncorrected. They are shares of the mean of ${names[0]}, and may extend beyond the ends of the axis.</p></details>
  <div class="notes">${result.notes.map((line) => html`<p class="note">${line.replace(CODE_NAME, (name) => known.metrics[name] || name)}</p>`)}</div>`;
}

// Downloads of a comparison: a report, the scenario files, and the command that makes the same comparison of these
// files.
export function TakeAlong({ command, files, report }) {
  const [reference, variant] = files.map(([name]) => name.replace(/\.toml$/, ""));
  return html`<${Report} label="Report of the comparison" name=${`${variant}-against-${reference}.html`} make=${report}>
      ${files.map(([name, toml]) => toml && html`<button type="button" onClick=${() => download(name, toml, "application/toml")}>Save ${name}</button>`)}<//>
    ${command ? html`<p class="note">The same comparison in a terminal, in the folder of the saved files ${files.map(([name]) => name).join(" and ")}:</p><${Command} text=${command} label="Command of the comparison" />`
      : html`<p class="note">No command makes this comparison. Either the seeds of these runs are not 1, 2, 3 and so on, or the runs are of two engines or were imported from files.</p>`}`;
}
