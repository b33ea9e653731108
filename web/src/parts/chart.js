// A figure over time: lines, straight lines that mean something, and the values under the pointer.
import uPlot from "uplot";
import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { Levels } from "./levels.js";
import { plain } from "./numbers.js";
import { DASHES, theme, variable } from "./theme.js";
import { onKeys, zoom, zoomKeys } from "./zoom.js";

const FONT = "12px system-ui, sans-serif";

const axis = (more) => ({
  font: FONT, ticks: { show: false }, stroke: () => variable("--soft"), grid: { stroke: () => variable("--rule"), width: 1 }, ...more,
});

function drawMarks(u, marks) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  for (const mark of marks.filter((one) => one.value > 0 && one.value <= u.scales.y.max)) {
    const y = Math.round(u.valToPos(mark.value, "y", true));
    ctx.strokeStyle = ctx.fillStyle = variable("--soft");
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const above = y - bbox.top > 16 * devicePixelRatio;
    const width = ctx.measureText(mark.label).width, left = bbox.left + bbox.width - width - 4 * devicePixelRatio;
    const base = y + (above ? -4 : 13) * devicePixelRatio;
    ctx.globalAlpha = 0.75;
    ctx.fillStyle = variable("--back");
    ctx.fillRect(left - 2, base - 11 * devicePixelRatio, width + 4, 14 * devicePixelRatio);
    ctx.globalAlpha = 1;
    ctx.fillStyle = variable("--soft");
    ctx.fillText(mark.label, left, base);
  }
  ctx.restore();
}

function options(props, live, onIndex) {
  return {
    width: 300, height: live.current.height, legend: { show: false }, padding: [8, 16, 0, 0],
    cursor: {
      sync: { key: "time", setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 6 },
    },
    scales: {
      x: { time: false, range: () => zoom.peek() || [0, live.current.duration] },
      y: { range: () => [0, 1.06 * (live.current.top || 1)] },
    },
    axes: [
      axis({ size: 26, space: 60, values: (u, ticks) => ticks.map((tick) => `${plain(tick)} s`) }),
      axis({ size: 46, space: 32, values: (u, ticks) => ticks.map((tick) => plain(tick)) }),
    ],
    series: [{}, ...props.lines.map((line) => ({
      stroke: () => variable(line.colour === null ? "--fore" : `--c${line.colour}`), dash: DASHES[line.dash || 0],
      width: 1.4, points: { show: false }, spanGaps: false,
    }))],
    hooks: {
      drawClear: [(u) => {
        const end = Math.min(u.valToPos(live.current.warmup, "x", true), u.bbox.left + u.bbox.width);
        u.ctx.fillStyle = variable("--panel");
        if (end > u.bbox.left) u.ctx.fillRect(u.bbox.left, u.bbox.top, end - u.bbox.left, u.bbox.height);
      }],
      draw: [(u) => drawMarks(u, live.current.marks)],
      setCursor: [(u) => onIndex(u.cursor.idx ?? null)],
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        zoom.value = [Math.max(0, from), Math.min(to, live.current.duration)];
      }],
    },
  };
}

const keysOf = (u, duration) => {
  const [from] = zoom.peek() || [0];
  const step = (by) => {
    const at = Math.min(Math.max((u.cursor.idx ?? u.valToIdx(from)) + by, 0), u.data[0].length - 1);
    u.setCursor({ left: u.valToPos(u.data[0][at], "x"), top: 10 });
  };
  return {
    ...zoomKeys(duration), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
  };
};

// What is drawn of the samples: those between the ends that are shown.
function seen({ current: { levels, duration } }) {
  const [from, to] = zoom.peek() || [0, duration];
  return levels.between(from, to);
}

// `lines`: [{label, colour, dash, values}]; `marks`: [{value, label}]; `top`: the largest value of the axis.
export function Chart(props) {
  const { title, unit, times, lines, marks = [], duration, warmup = 0, top, height = 170 } = props;
  const place = useRef(null), plot = useRef(null), live = useRef(null);
  const [index, setIndex] = useState(null);
  const levels = useMemo(() => new Levels(times, lines.map((line) => line.values)), [times]);
  live.current = { duration, warmup, marks, top, height, levels };
  const kind = JSON.stringify(lines.map((line) => [line.colour, line.dash]));

  useEffect(() => {
    const room = place.current;
    const u = new uPlot(options(props, live, setIndex), seen(live), room);
    plot.current = u;
    room.plot = u; // for a console, and for tests
    room.zoom = (part) => { zoom.value = part; };
    room.show = (many, columns) => { live.current.levels = new Levels(many, columns); };
    const fit = () => u.setSize({ width: Math.max(200, room.clientWidth), height: live.current.height });
    fit();
    const sizes = new ResizeObserver(fit);
    sizes.observe(room);
    // Not at once: figures that are selected in together read their ends from the scale of before.
    const show = () => { u.setData(seen(live), false); u.setScale("x", {}); };
    const undo = [zoom.subscribe(show), theme.subscribe(() => u.redraw(false))];
    const all = () => { zoom.value = null; };
    u.over.addEventListener("dblclick", all);
    return () => {
      sizes.disconnect();
      undo.forEach((one) => one());
      u.destroy();
    };
  }, [kind]);
  useEffect(() => {
    plot.current.setData(seen(live), true);
  }, [times, top, duration, JSON.stringify(marks)]);

  const pressed = onKeys(() => keysOf(plot.current, duration));
  const data = plot.current?.data, at = data && index !== null && index < data[0].length;
  return html`<figure class="chart">
    <figcaption><b>${title}</b>${" "}<span class="unit">${unit}</span>
      <span class="read">${at ? `${plain(data[0][index])} s: ${lines.slice(0, 5).map((line, n) => `${lines.length > 1 ? `${line.label} ` : ""}${plain(data[n + 1][index], 3)}`).join(", ")}` : ""}</span>
    </figcaption>
    <div class="plot" ref=${place} tabindex="0" role="img" onKeyDown=${pressed}
      aria-label=${`${title}, ${unit}, over time. Left and right read values, plus and minus zoom, 0 shows everything.`}></div>
  </figure>`;
}
