// A figure over time: lines, horizontal reference lines, and the values under the pointer.
import { ASIDE, axis, bandOf, look, TimeFigure } from "./figure.js";
import { PARTED } from "./gaps.js";
import { pictureOf, tableOf } from "../save/curves.js";
import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { Levels } from "./levels.js";
import { plain } from "./numbers.js";
import { Save } from "./save.js";
import { swatch } from "./swatch.js";
import { variable } from "./theme.js";
import { onKeys, zoom } from "./zoom.js";

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

// The columns of lines: the values and, for a line of several flows, the lowest and the highest value.
const columnsOf = (lines) => lines.flatMap((line) => (line.low ? [line.values, line.low, line.high] : [line.values]));

// The index of each line among these columns, which follow the column of times.
function placesOf(lines) {
  let next = 1;
  return lines.map((line) => {
    const place = next;
    next += line.low ? 3 : 1;
    return place;
  });
}

const MOST_READ = 5; // maximum number of lines whose values are shown as text
const reading = (lines, data, index) => placesOf(lines).slice(0, MOST_READ).map((place, n) => {
  const [value, low, high] = [place, place + 1, place + 2].map((at) => plain(data[at]?.[index], 3)), { label } = lines[n];
  return `${lines.length > 1 ? `${label} ` : ""}${value}${lines[n].low ? ` (${low} to ${high})` : ""}`;
}).join(", ");

const options = ({ lines }, live, onIndex) => ({
  legend: { show: false }, padding: [8, 16, 0, 0],
  cursor: { sync: { key: "time", setSeries: false } },
  scales: { y: { range: () => [0, 1.06 * (live.current.top || 1)] } },
  axes: [
    axis({ size: 26, space: 60, values: (u, ticks) => ticks.map((tick) => `${plain(tick)} s`) }),
    axis({ size: 46, space: 32, values: (u, ticks) => ticks.map((tick) => plain(tick)) }),
  ],
  series: [{}, ...lines.flatMap((line) => (line.low ? [look(line), ASIDE, ASIDE] : [{ ...look(line), ...PARTED }]))],
  bands: placesOf(lines).flatMap((place, n) => (lines[n].low ? [bandOf(lines[n], place)] : [])),
  hooks: { draw: [(u) => drawMarks(u, live.current.marks)], setCursor: [(u) => onIndex(u.cursor.idx ?? null)] },
});

const ENDS = ["lowest flow", "highest flow"];

// `lines`: [{label, colour, dash, values, low, high}], with low and high only for several flows; `marks`: [{value,
// label}]; `top`: the largest value of the axis; `of`: subject of the chart, for the title of a saved chart;
// `hasLegend`: whether the chart needs a legend, as no table names its lines.
export function Chart(props) {
  const { title, unit, times, lines, marks = [], duration, warmup = 0, top, height = 170, of, hasLegend } = props;
  const place = useRef(null), plot = useRef(null), live = useRef(null);
  const [index, setIndex] = useState(null), [isRead, setIsRead] = useState(false);
  const levels = useMemo(() => new Levels(times, columnsOf(lines)), [times, lines]);
  live.current = { whole: [0, duration], warmup, marks, top, height, levels };
  const kind = JSON.stringify(lines.map((line) => [line.colour, line.dash, Boolean(line.low)]));

  useEffect(() => {
    const room = place.current, figure = new TimeFigure(room, zoom, () => live.current, options(props, live, setIndex));
    plot.current = figure;
    room.plot = figure.u; // for a console, and for tests
    room.marks = () => live.current.marks;
    room.zoom = (part) => { zoom.value = part; };
    room.show = (many, columns) => { live.current.levels = new Levels(many, columns); };
    return () => figure.destroy();
  }, [kind]);
  useEffect(() => plot.current.update(), [levels, top, duration, warmup, JSON.stringify(marks)]);

  const saved = () => {
    const seen = { u: plot.current.u, title: of ? `${title}: ${of}` : title, labels: lines.map(({ label }) => label), x: "time, s", y: `${title}, ${unit}`, marks, warmup };
    return { title: seen.title, picture: () => pictureOf(seen), rows: () => tableOf(seen, [times, ...columnsOf(lines)], ENDS) };
  };
  const pressed = onKeys(() => plot.current.keys());
  const data = plot.current?.u.data, at = data && index !== null && index < data[0].length;
  return html`<figure class="chart">
    <figcaption><b>${title}</b>${" "}<span class="unit">${unit}</span>
      ${hasLegend && lines.map((line) => html`<span class="unit">${swatch(line)}${line.label}</span>`)}
      <span class="read" aria-live=${isRead ? "polite" : "off"}>${at ? `${plain(data[0][index])} s: ${reading(lines, data, index)}` : ""}</span>
      <${Save} title=${title} chart=${saved} />
    </figcaption>
    <div class="plot" ref=${place} tabindex="0" role="img" onKeyDown=${pressed} onFocus=${() => setIsRead(true)} onBlur=${() => setIsRead(false)}
      aria-label=${`${title}, ${unit}, over time. Left and right read values, plus and minus zoom, page up and down move, 0 shows everything.`}></div>
  </figure>`;
}
