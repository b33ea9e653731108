// A uPlot figure as a picture and as a table: what is seen of it, between the ends that are seen.
import { plain } from "../parts/numbers.js";
import { inLight, variable } from "../parts/theme.js";
import { rowsOf } from "./table.js";
import { FORE, SOFT, WIDTH, sheet, svg, widthOf } from "./sheet.js";

const HEIGHT = 340, RIGHT = 16, TOP = 10, BOTTOM = 46, TICK = 4;
const GAP = { x: 90, y: 40 }; // pixels between ticks, at least

const LOGARITHMIC = 3; // as uPlot calls it
const along = ({ distr }) => (distr === LOGARITHMIC ? Math.log10 : Number);

function ticks({ min: low, max: high, distr }, count) {
  if (distr === LOGARITHMIC) {
    const decades = Array.from({ length: Math.ceil(Math.log10(high / low)) + 2 }, (_, n) => 10 ** (Math.floor(Math.log10(low)) + n));
    return decades.flatMap((decade) => (decades.length < count ? [1, 2, 5] : [1]).map((part) => Number((part * decade).toPrecision(12)))).filter((tick) => tick >= low && tick <= high);
  }
  const least = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= least * 0.999), first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

// The lines that are shown, each with its columns: the values and, of a band, its ends.
function shownOf(u) {
  return u.series.flatMap((series, place) => {
    if (!place || series.class === "aside" || series.show === false) return [];
    const hasBand = u.bands.some((band) => band.series[1] === place + 1);
    return [{ series, places: hasBand ? [place, place + 1, place + 2] : [place] }];
  });
}

const isThere = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// The parts of a line without gaps, as places.
function partsOf(values) {
  const parts = [];
  values.forEach((value, n) => {
    if (!isThere(value)) return;
    if (n && isThere(values[n - 1])) parts[parts.length - 1].push(n);
    else parts.push([n]);
  });
  return parts;
}

function drawn(chart, look) {
  const { u, x: xLabel, y: yLabel, marks = [], warmup = 0, hasDots } = chart, { scales } = u, { min } = scales.x, { min: low, max: high } = scales.y;
  const inner = HEIGHT - TOP - BOTTOM, yTicks = ticks(scales.y, inner / GAP.y), texts = yTicks.map((tick) => plain(tick, 6));
  const left = 40 + Math.max(...texts.map((text) => widthOf(text))), wide = WIDTH - left - RIGHT;
  const share = (scale) => (value) => { const at = along(scale); return (at(value) - at(scale.min)) / (at(scale.max) - at(scale.min)); };
  const [ofX, ofY] = [share(scales.x), share(scales.y)], x = (value) => Number((wide * ofX(value)).toFixed(1)), y = (value) => Number((inner - inner * ofY(value)).toFixed(1));
  const text = (content, more) => svg("text", { "font-size": 12, fill: SOFT, ...more }, content);
  const times = u.data[0], path = (values, part, from = "M") => part.map((n, at) => `${at ? "L" : from}${x(times[n])} ${y(values[n])}`).join("");
  const lines = look.flatMap(({ places, colour, dash }) => {
    const [values, bottom, top] = places.map((place) => Array.from(u.data[place])), parts = partsOf(values);
    const band = bottom && partsOf(bottom).map((part) => `${path(top, part)}${path(bottom, [...part].reverse(), "L")}Z`).join("");
    const dots = hasDots ? values.flatMap((value, n) => (isThere(value) ? [svg("circle", { cx: x(times[n]), cy: y(value), r: 2.5, fill: colour })] : [])) : [];
    return [
      ...(band ? [svg("path", { d: band, fill: colour, "fill-opacity": 0.16 })] : []),
      svg("path", { d: parts.map((part) => path(values, part)).join(""), fill: "none", stroke: colour, "stroke-width": 1.4, "stroke-linejoin": "round", "stroke-dasharray": dash?.join(" ") }), ...dots,
    ];
  });
  const seen = marks.filter(({ value }) => value > low && value <= high);
  const rule = variable("--rule"), shade = Math.min(Math.max(x(warmup), 0), wide);
  const plot = svg("svg", { x: left, y: TOP, width: wide, height: inner, overflow: "hidden" },
    ...(warmup > min ? [svg("rect", { width: shade, height: inner, fill: variable("--panel") })] : []),
    ...yTicks.map((tick) => svg("path", { d: `M0 ${y(tick)}H${wide}`, stroke: rule })),
    ...seen.map(({ value }) => svg("path", { d: `M0 ${y(value)}H${wide}`, stroke: SOFT, "stroke-dasharray": "3 3" })), ...lines);
  return svg("g", {}, plot,
    svg("path", { d: `M${left} ${TOP}V${TOP + inner}H${WIDTH - RIGHT}`, fill: "none", stroke: SOFT }),
    ...yTicks.map((tick, n) => text(texts[n], { x: left - 6, y: TOP + y(tick) + 4, "text-anchor": "end" })),
    ...ticks(scales.x, wide / GAP.x).flatMap((tick) => [
      svg("path", { d: `M${left + x(tick)} ${TOP + inner}v${TICK}`, stroke: SOFT }),
      text(plain(tick, 6), { x: left + x(tick), y: TOP + inner + 16, "text-anchor": "middle" })]),
    ...seen.map(({ value, label }) => text(label, { x: WIDTH - RIGHT - 4, y: TOP + y(value) + (y(value) > 16 ? -4 : 13), "text-anchor": "end", stroke: "#fff", "stroke-width": 3, "paint-order": "stroke" })),
    text(xLabel, { x: left + wide / 2, y: HEIGHT - 6, "text-anchor": "middle", fill: FORE }),
    text(yLabel, { x: 14, y: TOP + inner / 2, transform: `rotate(-90 14 ${TOP + inner / 2})`, "text-anchor": "middle", fill: FORE }));
}

// `chart`: {u, title, labels, x, y, marks, warmup, hasDots}, with a label for every line that is no end of a band.
export const pictureOf = (chart) => inLight(() => {
  const names = labelled(chart.u, chart.labels);
  const look = shownOf(chart.u).map(({ series, places }) => ({ label: names[places[0]], places, colour: series.stroke(), dash: series.dash }));
  return sheet({ title: chart.title, legend: look.filter(({ label }) => label), height: HEIGHT }, drawn(chart, look));
});

// Labels by the place of their column.
function labelled(u, labels) {
  const names = {};
  let next = 0;
  u.series.forEach((series, place) => { if (place && series.class !== "aside") names[place] = labels[next++]; });
  return names;
}

// The numbers between the ends: `data` has the columns of the figure; `ends` names those of a band. A straight line is a column, too.
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
