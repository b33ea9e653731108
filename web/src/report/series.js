// Samples over time.
import { signal } from "@preact/signals-core";
import uPlot from "uplot";
import { pictureOf, tableOf } from "../save/curves.js";
import { addSave } from "../save/menu.js";
import { look, TimeFigure } from "../parts/figure.js";
import { PARTED } from "../parts/gaps.js";
import { Levels } from "../parts/levels.js";
import { onKeys } from "../parts/zoom.js";
import { add } from "../parts/add.js";
import { showDashes } from "./legend.js";
import { HEIGHT, axes, told, upward } from "./axes.js";

const BUTTONS = [["Zoom in", "+"], ["Zoom out", "-"], ["Earlier", "PageUp"], ["Later", "PageDown"], ["Everything", 0]];

// Values as `report/svg/marks.py` packs them: two bytes per number, low byte first.
function unpacked({ values, low, step }, nothing) {
  const bytes = Uint8Array.from(atob(values), (one) => one.charCodeAt(0));
  return Float32Array.from(new Uint16Array(bytes.buffer), (number) => (number === nothing ? NaN : low + step * number));
}

// Values with as many digits as two bytes resolve.
function exact({ step }, values) {
  const decimals = step > 0 ? Math.min(100, Math.max(0, Math.floor(-Math.log10(step)))) : 100;
  return Array.from(values, (value) => (Number.isNaN(value) ? null : Number(value.toFixed(decimals))));
}

// Traces may end early. A shorter trace is filled up with missing values.
function longest(columns) {
  const length = Math.max(...columns.map((values) => values.length));
  return columns.map((values) => {
    const whole = new Float32Array(length).fill(NaN);
    whole.set(values);
    return whole;
  });
}

export function drawSeries(figure, data) {
  const columns = longest(data.traces.map((trace) => unpacked(trace, data.nothing)));
  const step = data.size > 1 ? (data.step * data.size) / 2 : data.step; // each group has two values: the smallest and the largest
  const times = Float64Array.from(columns[0], (_, n) => data.start + n * step);
  const whole = [data.start, Math.max(times.at(-1), data.start + step)];
  const shown = { whole, warmup: data.warmup, height: HEIGHT, levels: new Levels(times, columns) };
  const live = add(figure, "div", "", { class: "live", tabindex: "0", role: "group" });
  live.setAttribute("aria-label", `${data.name} Left and right read values, plus and minus zoom, page up and down move, 0 shows everything.`);
  const drawn = new TimeFigure(live, signal(null), () => shown, {
    scales: { y: upward(uPlot.rangeNum) }, axes: axes("time, s", data.label),
    series: [{ label: "time, s", value: told }, ...data.traces.map((trace) => ({ ...look(trace), ...PARTED, label: trace.label, value: told }))],
  });
  showDashes(drawn.u, data.traces);
  live.addEventListener("keydown", onKeys(() => drawn.keys()));
  const tools = add(figure, "div", "", { class: "tools" });
  for (const [text, key] of BUTTONS) add(tools, "button", text, { type: "button" }).addEventListener("click", () => drawn.keys()[key]());
  const chart = { u: drawn.u, title: data.name, labels: data.traces.map(({ label }) => label), x: "time, s", y: data.label, warmup: data.warmup };
  add(tools, "span", "or drag over a part of the figure", { class: "note" });
  addSave(tools, data.name, () => ({ title: data.name, picture: () => pictureOf(chart), rows: () => tableOf(chart, [times, ...columns.map((values, n) => exact(data.traces[n], values))]) }));
  return drawn.u;
}
