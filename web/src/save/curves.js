// The visible part of a uPlot figure, as a picture for a column of a paper and as a table.
import { isThere, partsOf } from "../parts/gaps.js";
import { plain } from "../parts/numbers.js";
import { inLight, variable } from "../parts/theme.js";
import { along, apart, rounded } from "../parts/ticks.js";
import { rowsOf } from "./table.js";
import { COLUMN, FORE, SMALL, SOFT, sheet, svg, widthOf } from "./sheet.js";

const HEIGHT = 210, LEFT = 30, RIGHT = 14, TOP = 8, BOTTOM = 36, TICK = 3;
const GAP = { x: 48, y: 28, places: 24 }; // smallest distance between ticks, in pixels
const CAP = 2.5, BESIDE = 4; // half of the width of the cap of a bar, and the distance between bars at one value of x, in pixels

// The visible lines, each with its columns: the values and, for a line with a band, the ends of the band.
function shownOf(u) {
  return u.series.flatMap((series, place) => {
    if (!place || series.class === "aside" || series.show === false) return [];
    return [{ series, places: u.series[place + 1]?.class === "aside" ? [place, place + 1, place + 2] : [place] }];
  });
}

function drawn(chart, look) {
  const { u, x: xLabel, y: yLabel, marks = [], warmup = 0, hasDots, hasBars, places } = chart, { scales } = u, { min } = scales.x, { min: low, max: high } = scales.y;
  const inner = HEIGHT - TOP - BOTTOM, yTicks = rounded(scales.y, inner / GAP.y), texts = yTicks.map((tick) => plain(tick, 6));
  const left = LEFT + Math.max(...texts.map((text) => widthOf(text, SMALL))), wide = COLUMN - left - RIGHT;
  const share = (scale) => (value) => { const at = along(scale); return (at(value) - at(scale.min)) / (at(scale.max) - at(scale.min)); };
  const [ofX, ofY] = [share(scales.x), share(scales.y)], x = (value) => Number((wide * ofX(value)).toFixed(1)), y = (value) => Number((inner - inner * ofY(value)).toFixed(1));
  const xTicks = places ? apart(places, x, GAP.places) : rounded(scales.x, wide / GAP.x);
  const text = (content, more) => svg("text", { "font-size": SMALL, fill: SOFT, ...more }, content);
  const times = u.data[0], path = (values, part, from = "M") => part.map((n, at) => `${at ? "L" : from}${x(times[n])} ${y(values[n])}`).join("");
  const lines = look.map(({ columns, colour, dash }, line) => {
    const [values, bottom, top] = columns.map((column) => Array.from(u.data[column])), parts = partsOf(times, values);
    const cap = (n, end) => `M${x(times[n]) - CAP} ${y(end)}h${2 * CAP}`;
    const bars = hasBars && bottom.map((low_, n) => (isThere(low_) ? `M${x(times[n])} ${y(low_)}V${y(top[n])}${cap(n, low_)}${cap(n, top[n])}` : "")).join("");
    const band = !hasBars && bottom && partsOf(times, bottom).map((part) => `${path(top, part)}${path(bottom, [...part].reverse(), "L")}Z`).join("");
    const dotted = hasDots ? parts.flat() : parts.filter((part) => part.length === 1).flat();
    const dots = dotted.map((n) => svg("circle", { cx: x(times[n]), cy: y(values[n]), r: hasDots ? 2.5 : 1.2, fill: colour }));
    return svg("g", { transform: hasBars ? `translate(${BESIDE * (line - (look.length - 1) / 2)})` : null },
      ...(band ? [svg("path", { d: band, fill: colour, "fill-opacity": 0.16 })] : []),
      ...(bars ? [svg("path", { d: bars, fill: "none", stroke: colour })] : []),
      svg("path", { d: parts.map((part) => path(values, part)).join(""), fill: "none", stroke: colour, "stroke-width": 1.4, "stroke-linejoin": "round", "stroke-dasharray": dash?.join(" ") }), ...dots);
  });
  const seen = marks.filter(({ value }) => value > low && value <= high);
  const rule = variable("--rule"), shade = Math.min(Math.max(x(warmup), 0), wide);
  const plot = svg("svg", { x: left, y: TOP, width: wide, height: inner, overflow: "hidden" },
    ...(warmup > min ? [svg("rect", { width: shade, height: inner, fill: variable("--panel") })] : []),
    ...yTicks.map((tick) => svg("path", { d: `M0 ${y(tick)}H${wide}`, stroke: rule })),
    ...seen.map(({ value }) => svg("path", { d: `M0 ${y(value)}H${wide}`, stroke: SOFT, "stroke-dasharray": "3 3" })), ...lines);
  return svg("g", {}, plot,
    svg("path", { d: `M${left} ${TOP}V${TOP + inner}H${COLUMN - RIGHT}`, fill: "none", stroke: SOFT }),
    ...yTicks.map((tick, n) => text(texts[n], { x: left - 5, y: TOP + y(tick) + 3.5, "text-anchor": "end" })),
    ...xTicks.flatMap((tick) => [
      svg("path", { d: `M${left + x(tick)} ${TOP + inner}v${TICK}`, stroke: SOFT }),
      text(plain(tick, 6), { x: left + x(tick), y: TOP + inner + 14, "text-anchor": "middle" })]),
    ...seen.map(({ value, label }) => text(label, { x: COLUMN - RIGHT - 3, y: TOP + y(value) + (y(value) > 14 ? -3 : 11), "text-anchor": "end", stroke: "#fff", "stroke-width": 3, "paint-order": "stroke" })),
    text(xLabel, { x: left + wide / 2, y: HEIGHT - 5, "text-anchor": "middle", fill: FORE }),
    text(yLabel, { x: 11, y: TOP + inner / 2, transform: `rotate(-90 11 ${TOP + inner / 2})`, "text-anchor": "middle", fill: FORE }));
}

// `chart`: {u, title, labels, x, y, marks, warmup, hasDots, hasBars, places}, with a label for every line except the
// ends of bands. `places` are values along the axis that have ticks; `hasBars`: intervals are bars, side by side.
export const pictureOf = (chart) => inLight(() => {
  const names = labelled(chart.u, chart.labels);
  const look = shownOf(chart.u).map(({ series, places }) => ({ label: names[places[0]], columns: places, colour: series.stroke(), dash: series.dash }));
  return sheet({ title: chart.title, legend: look.filter(({ label }) => label), width: COLUMN, height: HEIGHT, size: SMALL }, drawn(chart, look));
});

// The labels of lines, by the index of their column.
function labelled(u, labels) {
  const names = {};
  let next = 0;
  u.series.forEach((series, place) => { if (place && series.class !== "aside") names[place] = labels[next++]; });
  return names;
}

// The table of the numbers in the visible range. `data`: columns of the figure; `ends`: names of the two ends of a
// band. A reference line also becomes a column.
export function tableOf(chart, data, ends) {
  const { u, labels, x, y, marks = [] } = chart, { min, max } = u.scales.x, names = labelled(u, labels);
  const inside = Array.from(data[0], (value, n) => n).filter((n) => data[0][n] >= min && data[0][n] <= max);
  const taken = (values) => (Array.isArray(values) ? inside.map((n) => values[n]) : values.constructor.from(inside, (n) => values[n]));
  const lines = shownOf(u).flatMap(({ places }) => places.map((place, n) => {
    const name = [names[places[0]], y].filter(Boolean).join(": ");
    return [n ? `${name}, ${ends[n - 1]}` : name, taken(data[place])];
  }));
  const constant = marks.filter(({ value }) => value > u.scales.y.min && value <= u.scales.y.max).map(({ label, value }) => [`${label}: ${y}`, inside.map(() => value)]);
  const columns = [[x, taken(data[0])], ...lines, ...constant];
  return rowsOf(columns.map(([name]) => name), columns.map(([, values]) => values));
}
