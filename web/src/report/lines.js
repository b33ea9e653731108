// Means along an axis, with bands of their intervals; a click on a label hides its line and its band.
import uPlot from "uplot";
import { ASIDE, bandOf, fit, look } from "../parts/figure.js";
import { pictureOf, tableOf } from "../save/curves.js";
import { addSave } from "../save/menu.js";
import { theme } from "../parts/theme.js";
import { add } from "../parts/add.js";
import { HEIGHT, axes, told, upward } from "./axes.js";

const isNone = (value) => value === null || value === undefined;
const withInterval = ({ columns: [, low, high] }) => (u, value, series, place) =>
  (isNone(value) ? told(u, value) : `${told(u, value)} [${told(u, low[place])}, ${told(u, high[place])}]`);
const room = (u, low, high) => [low - 0.03 * (high - low || 1), high + 0.03 * (high - low || 1)];
const logRoom = (u, low, high) => [low / (high / low) ** 0.03, high * (high / low) ** 0.03];

// On a log axis the ticks are the places, as far as they are apart; on a linear one they are uPlot's.
function along(data) {
  const [x, y] = axes(data.x, data.label);
  return data.log ? [{ ...x, splits: () => data.places, filter: (u, ticks) => apart(u, ticks) }, y] : [x, y];
}

function apart(u, ticks) {
  let last = -Infinity;
  return ticks.map((tick) => {
    const place = u.valToPos(tick, "x");
    if (place - last < 30) return null;
    last = place;
    return tick;
  });
}

function hideBand(u, place, what) {
  if (place === null || place % 3 !== 1 || what.show === undefined) return;
  for (const other of [place + 1, place + 2]) u.setSeries(other, { show: what.show });
}

export function drawLines(figure, data) {
  const live = add(figure, "div", "", { class: "live" });
  const series = data.lines.flatMap((line) => [
    { ...look(line), label: line.label || data.label, points: { show: true, size: 5 }, value: withInterval(line) }, ASIDE, ASIDE,
  ]);
  const bands = data.lines.map((line, n) => bandOf(line, 3 * n + 1));
  const u = new uPlot({
    width: 300, height: HEIGHT, bands, axes: along(data),
    scales: { x: data.log ? { time: false, distr: 3, range: logRoom } : { time: false, range: room }, y: upward(uPlot.rangeNum) }, cursor: { drag: { x: false, y: false } },
    series: [{ label: data.x, value: told }, ...series], hooks: { setSeries: [hideBand] },
  }, [data.places, ...data.lines.flatMap((line) => line.columns)], live);
  fit(u, live, () => HEIGHT);
  theme.subscribe(() => u.redraw(false));
  const chart = { u, title: data.name, labels: data.lines.map(({ label }) => label), x: data.x, y: data.label, hasDots: true };
  addSave(add(figure, "div", "", { class: "tools" }), data.name, () => ({ title: data.name, picture: () => pictureOf(chart), rows: () => tableOf(chart, u.data, ["low", "high"]) }));
  return u;
}
