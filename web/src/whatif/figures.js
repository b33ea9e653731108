// The four figures of a variant.
import { html } from "../parts/html.js";
import { Chart } from "../parts/chart.js";
import { largest, percentile, range, time } from "../parts/numbers.js";

const START = 20, FAR = 2; // the start of a run is its first 1/START; a maximum in the start counts as far above if it is FAR times the largest later value
const SMOOTHED = 3; // each goodput value is the mean over this number of the longest round trips, as in every figure of goodput

// Means over the preceding samples, because a single sample has only a few packets. Missing values are ignored.
function smoothed(values, window) {
  if (window < 2) return values;
  const made = new Float32Array(values.length);
  let total = 0, found = 0;
  const take = (value, sign) => {
    if (Number.isNaN(value)) return;
    total += sign * value;
    found += sign;
  };
  for (let n = 0; n < values.length; n += 1) {
    take(values[n], 1);
    if (n >= window) take(values[n - window], -1);
    made[n] = Number.isNaN(values[n]) ? NaN : total / found;
  }
  return made;
}

const scaled = (values, factor) => values.map((value) => value * factor);

const isThere = ({ begin, columns }) => Boolean(begin && columns.time_s?.length);
const spacingOf = (times) => (times.length > 1 ? times[1] - times[0] : 1);

// Seconds over which each goodput value is the mean.
export function windowOf(state) {
  if (!isThere(state)) return 0;
  const { begin, columns } = state, spacing = spacingOf(columns.time_s);
  const slow = begin.flows.reduce((most, _, n) => Math.max(most, percentile(columns[`srtt_s/${n}`], 0.95) || 0), 0);
  return Math.max(1, Math.ceil((SMOOTHED * slow) / spacing - 1e-6)) * spacing;
}

// The largest value of a line, without its start if the start is far above the later values.
function topOf(values) {
  const rest = largest(values.subarray(Math.floor(values.length / START))), whole = largest(values);
  return whole < FAR * rest ? whole : rest;
}

// The properties of the charts of a run, by name: lines and axes of all figures, with goodput as means over `over`
// seconds.
export function figuresOf(state, over) {
  if (!isThere(state)) return null;
  const { begin, columns, isRunning } = state, times = columns.time_s;
  const window = Math.round(over / spacingOf(times)), members = begin.lines.map(() => []);
  begin.flows.forEach((flow, n) => members[flow.line].push(n));
  const mayHave = (column, line) => (isRunning && line.cca) || column.some(Number.isFinite); // calls have no RTT and no window
  const lines = (key, make) => begin.lines.flatMap((line, n) => {
    const known = members[n].map((flow) => columns[`${key}/${flow}`]).filter((column) => mayHave(column, line));
    if (!known.length) return [];
    const made = known.map((column) => make(column, line));
    return [{ label: line.label, colour: line.colour, dash: line.dash, ...(line.flows > 1 ? range(made) : { values: made[0] }) }];
  });
  const queue = begin.links.map((name, n) => ({
    label: name, colour: begin.links.length > 1 ? n : null, dash: n, values: columns[`backlog_packets/${n}`],
  }));
  const figure = (title, unit, key, factor, drawn) => {
    const mark = begin.marks[key];
    return { title, unit, lines: drawn, marks: mark ? [{ value: mark.value * factor, label: mark.label }] : [] };
  };
  const made = [
    { ...figure("Goodput", "Mbit/s", "goodput_bps", 1e-6, lines("goodput_bps", (v) => smoothed(scaled(v, 1e-6), window))), over },
    figure("Round trip", "ms", "srtt_s", 1e3, lines("srtt_s", (v) => scaled(v, 1e3))),
    { ...figure("Queue at the link", "packets", "backlog_packets", 1, queue), hasLegend: queue.length > 1 },
    figure("Congestion window", "packets", "cwnd_bytes", 1, lines("cwnd_bytes", (v, line) => scaled(v, 1 / line.mss_bytes))),
  ].filter((one) => one.lines.length);
  for (const one of made) {
    const values = one.lines.map((line) => topOf(line.high || line.values));
    one.top = Math.max(0, ...values.filter(Number.isFinite), ...one.marks.filter((mark) => mark.value < 3 * Math.max(...values)).map((mark) => mark.value));
    one.times = times;
  }
  return made;
}

// `of`: name of the variant, if there are two variants.
export function Figures({ figures, tops, begin, of }) {
  const over = figures.find((figure) => figure.over)?.over, areMany = begin.lines.length < begin.flows.length;
  return html`<div class="figures">${figures.map((figure) => html`<${Chart} key=${figure.title} ...${figure}
    of=${[of, begin.name, `seed ${begin.seed}`].filter(Boolean).join(", ")} top=${tops[figure.title]} duration=${begin.duration_s} warmup=${begin.warmup_s} />`)}</div>
    <p class="note">${areMany && "A line is the mean of the flows of one algorithm. Its band reaches from the lowest to the highest flow. "}${
      over && `Each goodput value is the mean over the preceding ${time(over, 2)}. Data behind a lost packet counts when TCP delivers it, so goodput can exceed the rate of the link for a short time. `}Drag over a figure to zoom in. Double-click to show the whole run.${begin.warmup_s > 0 ? " Grey is the warm-up, which the numbers exclude." : ""}</p>`;
}

// The largest value of each axis over both variants, so that their figures have the same axes.
export function topsOf(all) {
  const tops = {};
  for (const { title, top } of all.filter(Boolean).flat()) tops[title] = Math.max(tops[title] || 0, top);
  return tops;
}
