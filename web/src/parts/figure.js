// Figures of the page and of reports: their look, and the zoom of figures over time.
import uPlot from "uplot";
import { theme, variable } from "./theme.js";
import { zoomKeys } from "./zoom.js";

const FONT = "12px system-ui, sans-serif";

export const axis = (more) => ({
  font: FONT, labelFont: FONT, ticks: { show: false },
  stroke: () => variable("--soft"), grid: { stroke: () => variable("--rule"), width: 1 }, ...more,
});

// `colour` and `dash` are indices into the lists of palette.py, from which the build makes style variables and DASHES.
export const look = ({ colour, dash }) => ({
  stroke: () => variable(colour === null ? "--fore" : `--c${colour}`), dash: DASHES[dash || 0],
  width: 1.4, points: { show: false },
});

// The ends of a band and its fill: two series behind the series of the line.
export const ASIDE = { class: "aside", width: 0, points: { show: false } };
export const bandOf = ({ colour }, place) => ({ series: [place + 2, place + 1], fill: () => `${variable(`--c${colour}`)}29` });

// Keeps a figure as wide as its container.
export function fit(u, room, height) {
  const resize = () => u.setSize({ width: Math.max(200, room.clientWidth), height: height() });
  const sizes = new ResizeObserver(resize);
  resize();
  sizes.observe(room);
  return () => sizes.disconnect();
}

function shadeWarmup(u, warmup) {
  const { left, top, width, height } = u.bbox, end = Math.min(u.valToPos(warmup, "x", true), left + width);
  u.ctx.fillStyle = variable("--panel");
  if (end > left) u.ctx.fillRect(left, top, end - left, height);
}

// A figure over time in a container. `live()` returns the current content: {whole: [start, end], warmup, levels,
// height}; `zoom` is a signal; `options` are further options of uPlot.
export class TimeFigure {
  constructor(room, zoom, live, options) {
    Object.assign(this, { zoom, live });
    this.u = new uPlot({
      width: 300, height: live().height, ...options,
      cursor: { ...options.cursor, points: { size: 6 }, drag: { x: true, y: false, setScale: false } },
      scales: { ...options.scales, x: { time: false, range: () => this.ends() } },
      hooks: {
        ...options.hooks, drawClear: [(u) => shadeWarmup(u, live().warmup)], setSelect: [(u) => this.select(u)],
      },
    }, this.seen(), room);
    // The figure is not redrawn immediately, because figures that share the zoom still read their ends from the old scale.
    const show = () => { this.u.setData(this.seen(), false); this.u.setScale("x", {}); };
    const redraw = () => this.u.redraw(false);
    this.undo = [fit(this.u, room, () => live().height), zoom.subscribe(show), theme.subscribe(redraw)];
    this.u.over.addEventListener("dblclick", () => { zoom.value = null; });
  }

  ends() {
    return this.zoom.peek() || this.live().whole;
  }

  // The samples between the visible ends, which are drawn.
  seen() {
    return this.live().levels.between(...this.ends());
  }

  update() {
    this.u.setData(this.seen(), true);
  }

  select(u) {
    const { left, width } = u.select, [start, end] = this.live().whole;
    if (width < 4) return;
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.zoom.value = [Math.max(start, u.posToVal(left, "x")), Math.min(u.posToVal(left + width, "x"), end)];
  }

  // Moves the pointer by some samples.
  step(by) {
    const { u } = this, [times] = u.data;
    const place = Math.min(Math.max((u.cursor.idx ?? u.valToIdx(this.ends()[0])) + by, 0), times.length - 1);
    u.setCursor({ left: u.valToPos(times[place], "x"), top: 10 }, true, true); // also moves the pointer in all figures that share the zoom
  }

  keys() {
    return { ...zoomKeys(this.zoom, this.live().whole), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1) };
  }

  destroy() {
    this.undo.forEach((one) => one());
    this.u.destroy();
  }
}
