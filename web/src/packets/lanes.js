// Packet lanes: one lane per point of capture, with time from left to right.
import { html, useEffect, useMemo, useRef, useState } from "../parts/html.js";
import { count, plain, time } from "../parts/numbers.js";
import { Save } from "../parts/save.js";
import { theme } from "../parts/theme.js";
import { onKeys, show, zoom, zoomKeys } from "../parts/zoom.js";
import { LEFT, draw, heightOf, laneY, lineOf, viewOf } from "./drawing.js";
import { WIDTH, lanesPicture, lanesRows } from "./saved.js";

const NEAR = 12; // largest distance in pixels from the pointer to the packet that it selects

function said(packets, begin, n) {
  const flow = begin.flows[packets.flow[n]]?.name || "another flow", first = packets.byte(n), kind = packets.kind[n];
  const what = kind === 1 ? `ACK up to byte ${count(first)}` : kind === 2 ? "opens the connection"
    : `data, byte ${count(first)}${packets.len[n] ? ` to ${count(first + packets.len[n] - 1)}` : ""}`;
  const next = packets.is_lost[n] ? "dropped"
    : Number.isNaN(packets.takes_s[n]) ? "" : `${time(packets.takes_s[n])} to ${begin.lanes[packets.to[n]]}`;
  const more = [packets.is_again[n] && "retransmitted", packets.is_marked[n] && "marked", next].filter(Boolean);
  return [`${plain(packets.times[n], 9)} s at ${begin.lanes[packets.lane[n]]}: ${flow}, ${what}`, ...more].join("; ");
}

// The packet whose line is nearest to the pointer; -1 if no line is near.
function nearest(packets, view, x, y) {
  let best = -1, least = NEAR;
  for (let n = view.first; n < view.last; n += 1) {
    if (!view.isWanted(n)) continue;
    const [fromX, fromY, toX, toY] = lineOf(packets, view, n), wide = toX - fromX, tall = toY - fromY;
    const part = wide || tall ? Math.min(1, Math.max(0, ((x - fromX) * wide + (y - fromY) * tall) / (wide * wide + tall * tall))) : 0;
    const far = Math.hypot(x - fromX - part * wide, y - fromY - part * tall);
    if (far < least) [best, least] = [n, far];
  }
  return best;
}

// Numbers of packets in the lane nearest to the pointer, in the screen column of the pointer.
function passing({ columns, kinds, all, lost, again }, view, begin, x, y) {
  const lane = begin.lanes.reduce((best, _, n) => (Math.abs(laneY(n) - y) < Math.abs(laneY(best) - y) ? n : best), 0);
  const column = Math.min(columns - 1, Math.max(0, Math.floor(x - LEFT))), sums = [0, 0];
  for (let kind = 0; kind < kinds; kind += 1) sums[kind % 2] += all[(lane * kinds + kind) * columns + column];
  const words = [`${count(sums[0])} data`, `${count(sums[1])} ACKs`];
  if (again[lane * columns + column]) words.push(`${count(again[lane * columns + column])} retransmitted`);
  if (lost[lane * columns + column]) words.push(`${count(lost[lane * columns + column])} dropped behind it`);
  return `${plain(view.from + column / view.scale, 6)} s, ${time(1 / view.scale)} at ${begin.lanes[lane]}: ${words.join(", ")}`;
}

function Legend() {
  const line = (more, inner) => html`<svg class=${`swatch ${more}`} viewBox="0 0 22 8" aria-hidden="true">${inner}</svg>`;
  return html`<p class="note legend">
    <span>${line("c0", html`<path d="M0 4H22" class="line" />`)}data</span>
    <span>${line("c0", html`<path d="M0 4H22" class="line d2" />`)}ACK</span>
    <span>${line("c0", html`<path d="M4 4H22" class="line again" /><circle cx="4" cy="4" r="3" class="spot" />`)}retransmitted</span>
    <span>${line("", html`<path d="M8 0L15 8M15 0L8 8" class="line cross" />`)}dropped</span>
    <span>${line("", html`<circle cx="11" cy="4" r="3" class="line mark" />`)}marked (ECN)</span></p>`;
}

export function Lanes({ begin, packets, more }) {
  const place = useRef(null), canvas = useRef(null), drag = useRef(null), at = useRef(-1), live = useRef(null), counts = useRef(null);
  const [read, setRead] = useState(""), [line, setLine] = useState(-1), [selected, setSelected] = useState(null);
  const whole = [0, begin.duration_s];
  const numberOf = (flow) => begin.flows[flow]?.line ?? begin.lines.length;
  const view = (width = Math.max(200, place.current.clientWidth)) => viewOf(packets, zoom.peek() || whole, width, numberOf, line);
  live.current = () => { counts.current = draw(canvas.current, packets, view(), begin.lanes, begin.lines); };
  const losses = useMemo(() => packets.is_lost?.reduce((sum, one) => sum + one, 0) || 0, [packets]);

  useEffect(() => {
    const redraw = () => { if (place.current) live.current(); }, room = place.current;
    if (!room) return undefined; // the user has opened another view meanwhile
    room.lanes = { packets, view, redraw }; // for a console, and for tests
    const sizes = new ResizeObserver(redraw);
    sizes.observe(room);
    const undo = [zoom.subscribe(redraw), theme.subscribe(redraw)];
    return () => { sizes.disconnect(); undo.forEach((one) => one()); };
  }, [packets, line]);

  const tell = (n) => { at.current = n; setRead(n < 0 ? "" : said(packets, begin, n)); };
  const go = (by) => {
    const shown = view(), start = at.current >= shown.inside && at.current < shown.last ? at.current : by > 0 ? shown.inside - 1 : shown.last;
    let n = start + by;
    while (n >= 0 && n < packets.length && !shown.isWanted(n)) n += by;
    if (n < 0 || n >= packets.length) return;
    if (n < shown.inside || n >= shown.last) show(zoom, packets.times[n] - (shown.to - shown.from) / 2, shown.to - shown.from, whole);
    tell(n);
  };
  const toLoss = (by) => {
    const shown = view(), isAt = at.current >= shown.inside && at.current < shown.last;
    const start = isAt ? at.current : by > 0 ? (zoom.peek() ? packets.place((shown.from + shown.to) / 2) : 0) - 1 : shown.last;
    const n = packets.lost(start, by);
    if (n < 0) { setRead(by > 0 ? "No later drop." : "No earlier drop."); return; }
    const wide = Math.min(3 * (packets.longest || 0.05), begin.duration_s, 0.5);
    show(zoom, packets.times[n] - wide / 3, wide, whole);
    tell(n);
  };
  const saved = () => {
    const what = counts.current ? "Packets, data above a lane and ACKs below" : "Packets";
    const chart = { title: `${what}: ${begin.name}, seed ${begin.seed}`, packets, view: view(), printed: view(WIDTH), begin, counts: counts.current };
    return { title: chart.title, picture: () => lanesPicture(chart), rows: () => lanesRows(chart) };
  };
  const placeOf = (event) => { const box = canvas.current.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const moved = (event) => {
    const [x, y] = placeOf(event), shown = view();
    if (drag.current !== null) setSelected([Math.min(drag.current, x), Math.abs(x - drag.current)]);
    else if (shown.areLines) tell(nearest(packets, shown, x, y));
    else if (counts.current) setRead(passing(counts.current, shown, begin, x, y));
  };
  const released = (event) => {
    const [x] = placeOf(event), start = drag.current, shown = view();
    drag.current = null;
    setSelected(null);
    if (start === null || Math.abs(x - start) < 4) return;
    const [from, to] = [Math.min(start, x), Math.max(start, x)].map((one) => shown.from + (one - LEFT) / shown.scale);
    show(zoom, Math.max(from, 0), to - Math.max(from, 0), whole);
  };
  const pressed = onKeys(() => ({
    ...zoomKeys(zoom, whole), ArrowRight: () => go(1), ArrowLeft: () => go(-1), n: () => toLoss(1), p: () => toLoss(-1),
  }));
  const told = `Packets by time at ${begin.lanes.join(", ")}. Left and right go from packet to packet, n and p to the next and the previous drop, plus and minus zoom, page up and down move, 0 shows everything.`;
  return html`<div class="lanes" role="group" aria-label="Packets"><h2>Packets</h2>
    <p class="buttons"><span>${count(packets.length)} captured, ${losses ? `${count(losses)} dropped` : "no drop detected"}</span>
      ${losses > 0 && html`<button type="button" onClick=${() => toLoss(-1)}>Previous drop</button><button type="button" onClick=${() => toLoss(1)}>Next drop</button>`}
      ${begin.lines.length > 1 && html`<label>Flow <select value=${line} onChange=${(event) => setLine(Number(event.target.value))}>
        <option value="-1">all</option>${begin.lines.map((one, n) => html`<option value=${n}>${one.label}</option>`)}</select></label>`}
      ${more && html`<button type="button" onClick=${more.later}>${more.label}</button>`}
      <${Save} title="Packets" chart=${saved} /></p>
    <${Legend} />
    <div class="room" ref=${place} tabindex="0" role="img" aria-label=${told} onKeyDown=${pressed}>
      <canvas ref=${canvas} style=${{ width: "100%", height: `${heightOf(begin.lanes)}px` }} onPointerMove=${moved} onPointerUp=${released}
        onPointerDown=${(event) => { [drag.current] = placeOf(event); canvas.current.setPointerCapture(event.pointerId); }}
        onPointerLeave=${() => { if (drag.current === null) tell(-1); }} onDblClick=${() => { zoom.value = null; }}></canvas>
      ${selected && html`<div class="selected" style=${{ left: `${selected[0]}px`, width: `${selected[1]}px` }}></div>`}
    </div>
    <p class="note read-packet" aria-live="polite">${read || "Drag to zoom in. Zoomed in, every packet is a line from one lane to the next. Double-click to show the whole run."}</p>
  </div>`;
}
