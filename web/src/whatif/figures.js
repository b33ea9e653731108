// The four figures of a variant.
import { html } from "../parts/html.js";
import { Chart } from "../parts/chart.js";
import { largest, percentile, time } from "../parts/numbers.js";

const SMOOTHED = 3; // long round trips that a point of goodput is the mean of, as in every figure of goodput

// Trailing means over several samples: single ones are of a few packets.
function smoothed(values, window) {
  if (window < 2) return values;
  const made = new Float32Array(values.length);
  let total = 0;
  for (let n = 0; n < values.length; n += 1) {
    total += values[n] - (n >= window ? values[n - window] : 0);
    made[n] = total / Math.min(n + 1, window);
  }
  return made;
}

const scaled = (values, factor) => values.map((value) => value * factor);

const isThere = ({ begin, columns }) => Boolean(begin && columns.time_s?.length);
const spacingOf = (times) => (times.length > 1 ? times[1] - times[0] : 1);

// Seconds that a point of goodput is the mean of.
export function windowOf(state) {
  if (!isThere(state)) return 0;
  const { begin, columns } = state, spacing = spacingOf(columns.time_s);
  const slow = Math.max(...begin.flows.map((_, n) => percentile(columns[`srtt_s/${n}`], 0.95) || 0));
  return Math.max(1, Math.ceil((SMOOTHED * slow) / spacing - 1e-6)) * spacing;
}

// The lines and axes of all figures of a run, goodput as means over some seconds: what a chart needs, by name.
export function figuresOf(state, over) {
  if (!isThere(state)) return null;
  const { begin, columns, isRunning } = state, times = columns.time_s;
  const [link] = begin.expected;
  const window = Math.round(over / spacingOf(times));
  const mayHave = (key, flow, n) => (isRunning && flow.cca) || columns[`${key}/${n}`].some(Number.isFinite); // a call has no round trip and no window
  const lines = (key, make) => begin.flows.map((flow, n) => mayHave(key, flow, n) && {
    label: flow.name, colour: flow.colour, dash: flow.dash, values: make(columns[`${key}/${n}`], flow),
  }).filter(Boolean);
  const queue = begin.links.map((name, n) => ({
    label: name, colour: begin.links.length > 1 ? n : null, dash: n, values: columns[`backlog_packets/${n}`],
  }));
  const mark = (value, label) => (value ? [{ value, label }] : []);
  const made = [
    { title: "Goodput", unit: "Mbit/s", lines: lines("goodput_bps", (v) => smoothed(scaled(v, 1e-6), window)), over,
      marks: link && link.flows > 1 ? mark(link.fair_share_bps / 1e6, "fair share") : [] },
    { title: "Round trip", unit: "ms", lines: lines("srtt_s", (v) => scaled(v, 1e3)), marks: link ? mark(link.rtt_s * 1e3, "empty path") : [] },
    { title: "Waiting at the link", unit: "packets", lines: queue, marks: link ? mark(link.buffer_packets, "full") : [] },
    { title: "Congestion window", unit: "packets", lines: lines("cwnd_bytes", (v, flow) => scaled(v, 1 / flow.mss_bytes)),
      marks: link && link.flows > 1 ? mark(link.window_packets, "fair and no queue") : link ? mark(link.bdp_packets, "fills the path") : [] },
  ].filter((figure) => figure.lines.length);
  const from = Math.floor(times.length / 20); // the start may be far above the rest
  for (const figure of made) {
    const values = figure.lines.map((line) => largest(line.values.subarray(from)));
    figure.top = Math.max(0, ...values.filter(Number.isFinite), ...figure.marks.filter((one) => one.value < 3 * Math.max(...values)).map((one) => one.value));
    figure.times = times;
  }
  return made;
}

export function Figures({ figures, tops, begin }) {
  const over = figures.find((figure) => figure.over)?.over;
  return html`<div class="figures">${figures.map((figure) => html`<${Chart} key=${figure.title} ...${figure}
    top=${tops[figure.title]} duration=${begin.duration_s} warmup=${begin.warmup_s} />`)}</div>
    <p class="note">${over && `Goodput is the mean over the ${time(over, 2)} before: what waited for a lost packet counts when it is handed on, so it may be more than the link carries. `}Drag over a figure to zoom in, double-click to see everything.${begin.warmup_s > 0 ? " Grey is the warm-up, which numbers leave out." : ""}</p>`;
}

// The same axes for both variants, so that they can be compared by eye.
export function topsOf(all) {
  const tops = {};
  for (const { title, top } of all.filter(Boolean).flat()) tops[title] = Math.max(tops[title] || 0, top);
  return tops;
}
