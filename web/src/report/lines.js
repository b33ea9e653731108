// Means along an axis with their intervals, which are drawn as bands, or as bars if the axis has few values. A click on
// a label hides the line and its intervals.
import uPlot from "uplot";
import { ASIDE, bandOf, fit, look } from "../parts/figure.js";
import { pictureOf, tableOf } from "../save/curves.js";
import { addSave } from "../save/menu.js";
import { theme } from "../parts/theme.js";
import { add } from "../parts/add.js";
import { apart } from "../parts/ticks.js";
import { showDashes } from "./legend.js";
import { HEIGHT, axes, told, upward } from "./axes.js";

const isNone = (value) => value === null || value === undefined;
const withInterval = ({ columns: [, low, high] }) => (u, value, series, place) =>
  (isNone(value) ? told(u, value) : `${told(u, value)} [${told(u, low[place])}, ${told(u, high[place])}]`);
const room = (u, low, high) => [low - 0.03 * (high - low || 1), high + 0.03 * (high - low || 1)];
const logRoom = (u, low, high) => [low / (high / low) ** 0.03, high * (high / low) ** 0.03];

const ROOM = 30, CAP = 3; // pixels between ticks, and half a cap of a bar

// Ticks are at swept values that are far enough apart. A linear axis with many swept values has the ticks of uPlot.
function along(data, places) {
  const [x, y] = axes(data.x, data.label);
  return [places ? { ...x, splits: () => places, filter: (u, ticks) => ticksOf(u, ticks) } : x, y];
}

function ticksOf(u, ticks) {
  const shown = new Set(apart(ticks, (tick) => u.valToPos(tick, "x"), ROOM));
  return ticks.map((tick) => (shown.has(tick) ? tick : null));
}

// Intervals as bars with caps.
function drawBars(u) {
  const { ctx } = u, pixels = devicePixelRatio, cap = CAP * pixels;
  ctx.save();
  ctx.lineWidth = pixels;
  ctx.setLineDash([]);
  for (let place = 1; place < u.series.length; place += 3) {
    if (u.series[place].show === false) continue;
    ctx.strokeStyle = u.series[place].stroke();
    ctx.beginPath();
    u.data[0].forEach((at, n) => {
      const ends = [u.data[place + 1][n], u.data[place + 2][n]];
      if (ends.some(isNone)) return;
      const x = u.valToPos(at, "x", true), [low, high] = ends.map((end) => u.valToPos(end, "y", true));
      for (const [from, to] of [[[x, low], [x, high]], [[x - cap, low], [x + cap, low]], [[x - cap, high], [x + cap, high]]]) {
        ctx.moveTo(...from);
        ctx.lineTo(...to);
      }
    });
    ctx.stroke();
  }
  ctx.restore();
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
  const hasBars = data.bars, places = data.ticks ? data.places : null;
  const bands = hasBars ? [] : data.lines.map((line, n) => bandOf(line, 3 * n + 1));
  const u = new uPlot({
    width: 300, height: HEIGHT, bands, axes: along(data, places),
    scales: { x: data.log ? { time: false, distr: 3, range: logRoom } : { time: false, range: room }, y: upward(uPlot.rangeNum) }, cursor: { drag: { x: false, y: false } },
    series: [{ label: data.x, value: told }, ...series], hooks: { setSeries: [hideBand], draw: hasBars ? [drawBars] : [] },
  }, [data.places, ...data.lines.flatMap((line) => line.columns)], live);
  showDashes(u, data.lines);
  fit(u, live, () => HEIGHT);
  theme.subscribe(() => u.redraw(false));
  const chart = { u, title: data.name, labels: data.lines.map(({ label }) => label), x: data.x, y: data.label, hasDots: true, hasBars, places };
  addSave(add(figure, "div", "", { class: "tools" }), data.name, () => ({ title: data.name, picture: () => pictureOf(chart), rows: () => tableOf(chart, u.data, ["low", "high"]) }));
  return u;
}
