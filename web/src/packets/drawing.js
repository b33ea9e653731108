// Draws packets into a canvas: a few packets as lines from lane to lane, many packets as counts per lane and column.
import { variable } from "../parts/theme.js";
import { plain } from "../parts/numbers.js";

export const TOP = 16, GAP = 84, FOOT = 24, LEFT = 46, RIGHT = 16; // the left and right margins are the same as in figures over time
const MOST_LINES = 4000, CROSS = 4;
export const heightOf = (lanes) => TOP + 22 + (lanes.length - 1 || 1) * GAP + 34 + FOOT;
export const laneY = (lane) => TOP + 22 + lane * GAP;

// The view: the time span, its place on the screen, and whether packets are drawn as lines or as counts. `lineOf`
// returns the line of a flow in the figures. Only packets of the line `chosen` are drawn, or all packets if `chosen` is
// below 0.
export function viewOf(packets, [from, to], width, lineOf, chosen) {
  const last = packets.place(to), inside = packets.place(from);
  const scale = (width - LEFT - RIGHT) / (to - from);
  const line = (n) => lineOf(packets.flow[n]);
  const isWanted = chosen < 0 ? () => true : (n) => line(n) === chosen;
  return {
    from, to, width, scale, first: packets.place(from - packets.longest), inside, last, line, isWanted,
    x: (time) => LEFT + (time - from) * scale, areLines: last - inside <= MOST_LINES,
  };
}

// Ends of a packet's line: at its lane and at the next lane. The line of a lost packet ends between the two lanes.
export function lineOf(packets, view, n) {
  const x = view.x(packets.times[n]), y = laneY(packets.lane[n]);
  if (packets.is_lost[n]) return [x, y, x + 7, y + (packets.is_reply[n] ? -1 : 1) * GAP * 0.3];
  if (Number.isNaN(packets.takes_s[n])) return [x, y, x, y];
  return [x, y, view.x(packets.times[n] + packets.takes_s[n]), laneY(packets.to[n])];
}

const colourOf = (lines, number) => (lines[number] ? variable(`--c${lines[number].colour}`) : variable("--soft"));

function drawLines(ctx, packets, view, lanes, lines) {
  const ways = new Map(), { Way } = ctx, marks = new Way(), lost = new Way(), again = new Way();
  for (let n = view.first; n < view.last; n += 1) {
    if (!view.isWanted(n)) continue;
    const [x, y, toX, toY] = lineOf(packets, view, n);
    if (toX < 0) continue;
    const key = `${view.line(n)} ${packets.kind[n] ? 1 : 0} ${packets.is_again[n]}`;
    if (!ways.has(key)) ways.set(key, [view.line(n), packets.kind[n], packets.is_again[n], new Way()]);
    const way = ways.get(key)[3];
    way.moveTo(x, y);
    const isEnd = lanes > 1 && packets.lane[n] === (packets.is_reply[n] ? 0 : lanes - 1);
    if (toX === x && toY === y) way.lineTo(x, y + (isEnd ? 0 : packets.is_reply[n] ? -6 : 6)); // the packet was not captured at another point
    else way.lineTo(toX, toY);
    if (packets.is_lost[n]) {
      lost.moveTo(toX - CROSS, toY - CROSS); lost.lineTo(toX + CROSS, toY + CROSS);
      lost.moveTo(toX - CROSS, toY + CROSS); lost.lineTo(toX + CROSS, toY - CROSS);
    }
    if (packets.is_again[n]) { again.moveTo(x + 3, y); again.arc(x, y, 3, 0, 7); }
    if (packets.is_marked[n]) { marks.moveTo(x + 4, y); marks.arc(x, y, 4, 0, 7); }
  }
  const isClose = view.last - view.inside < 400;
  for (const [line, kind, isAgain, way] of ways.values()) {
    ctx.strokeStyle = colourOf(lines, line);
    ctx.lineWidth = isAgain ? 3 : kind ? 0.8 : 1.4;
    ctx.globalAlpha = isAgain ? 1 : kind ? 0.55 : isClose ? 1 : 0.7;
    ctx.setLineDash(kind ? [2, 3] : isClose && lines[line] ? DASHES[lines[line].dash] : []);
    ctx.stroke(way);
  }
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
  ctx.fillStyle = variable("--fore");
  ctx.fill(again);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = variable("--open");
  ctx.stroke(marks);
  ctx.lineWidth = 2;
  ctx.strokeStyle = variable("--bad");
  ctx.stroke(lost);
}

// Counts of packets in each lane, per column of the screen: data and ACKs of each line of the figures, and lost
// packets.
function counted(packets, view, lanes, lines) {
  const columns = Math.max(1, Math.floor(view.width - LEFT - RIGHT)), kinds = 2 * (lines + 1);
  const all = new Uint32Array(lanes * kinds * columns), lost = new Uint32Array(lanes * columns), again = new Uint32Array(lanes * columns);
  for (let n = view.inside; n < view.last; n += 1) {
    if (!view.isWanted(n)) continue;
    const column = Math.min(columns - 1, Math.floor((packets.times[n] - view.from) * view.scale)), lane = packets.lane[n];
    all[(lane * kinds + 2 * view.line(n) + (packets.kind[n] ? 1 : 0)) * columns + column] += 1;
    if (packets.is_lost[n]) lost[lane * columns + column] += 1;
    if (packets.is_again[n]) again[lane * columns + column] += 1;
  }
  return { columns, kinds, all, lost, again };
}

function tallest({ columns, kinds, all }, lanes) {
  let most = 1;
  for (let lane = 0; lane < lanes; lane += 1) {
    for (let column = 0; column < columns; column += 1) {
      const sums = [0, 0];
      for (let kind = 0; kind < kinds; kind += 1) sums[kind % 2] += all[(lane * kinds + kind) * columns + column];
      most = Math.max(most, ...sums);
    }
  }
  return most;
}

function drawCounts(ctx, packets, view, lanes, lines) {
  const found = counted(packets, view, lanes.length, lines.length), { columns, kinds, all, lost, again } = found;
  const unit = (GAP * 0.4) / tallest(found, lanes.length);
  for (let lane = 0; lane < lanes.length; lane += 1) {
    const y = laneY(lane), above = new Float32Array(columns), below = new Float32Array(columns);
    for (let kind = 0; kind < kinds; kind += 1) {
      const isAck = kind % 2, stack = isAck ? below : above, start = (lane * kinds + kind) * columns;
      ctx.fillStyle = colourOf(lines, kind >> 1);
      ctx.globalAlpha = isAck ? 0.5 : 1;
      for (let column = 0; column < columns; column += 1) {
        const tall = all[start + column] * unit;
        if (!tall) continue;
        ctx.fillRect(LEFT + column, isAck ? y + 1 + stack[column] : y - stack[column] - tall, 1, tall);
        stack[column] += tall;
      }
    }
    ctx.globalAlpha = 1;
    for (let column = 0; column < columns; column += 1) {
      if (again[lane * columns + column]) { ctx.fillStyle = variable("--fore"); ctx.fillRect(LEFT + column - 1, y - 2, 2, 4); }
      if (lost[lane * columns + column]) { ctx.fillStyle = variable("--bad"); ctx.fillRect(LEFT + column - 1, y + 5, 2, GAP * 0.3); }
    }
  }
  return found;
}

function drawFrame(ctx, view, lanes) {
  const soft = variable("--soft"), bottom = laneY(lanes.length - 1 || 1) + 34;
  ctx.font = "12px system-ui, sans-serif";
  ctx.textBaseline = "alphabetic";
  ctx.strokeStyle = variable("--rule");
  ctx.fillStyle = soft;
  const step = niceStep((view.to - view.from) / Math.max(2, view.width / 110));
  ctx.textAlign = "center";
  for (let tick = Math.ceil(view.from / step) * step; tick <= view.to + step * 1e-6; tick += step) {
    const x = view.x(tick);
    ctx.beginPath();
    ctx.moveTo(x, TOP);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    if (x > 20 && x < view.width - 20) ctx.fillText(`${plain(Number(tick.toPrecision(9)), 8)} s`, x, bottom + 16);
  }
  ctx.strokeStyle = soft;
  lanes.forEach((_, lane) => {
    ctx.beginPath();
    ctx.moveTo(LEFT, laneY(lane));
    ctx.lineTo(view.width - RIGHT, laneY(lane));
    ctx.stroke();
  });
}

function drawNames(ctx, lanes) {
  ctx.textAlign = "left";
  ctx.font = "600 12px system-ui, sans-serif";
  lanes.forEach((name, lane) => {
    const shown = name.length > 40 ? `${name.slice(0, 39)}…` : name, y = laneY(lane) - 7;
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = variable("--back");
    ctx.fillRect(LEFT, y - 12, ctx.measureText(shown).width + 6, 16);
    ctx.globalAlpha = 1;
    ctx.fillStyle = variable("--fore");
    ctx.fillText(shown, LEFT + 3, y);
  });
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((one) => one * power >= least);
}

// Draws everything with a pen. Returns the counts of `counted`, or null if packets are drawn as lines. `Way` of a pen
// makes paths.
export function drawn(pen, packets, view, lanes, lines) {
  drawFrame(pen, view, lanes);
  const found = view.areLines ? null : drawCounts(pen, packets, view, lanes, lines);
  if (view.areLines) drawLines(pen, packets, view, lanes.length, lines);
  drawNames(pen, lanes);
  return found;
}

// Draws everything into a canvas.
export function draw(canvas, packets, view, lanes, lines) {
  const ctx = canvas.getContext("2d"), height = heightOf(lanes), ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(view.width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, view.width, height);
  ctx.Way = Path2D;
  return drawn(ctx, packets, view, lanes, lines);
}
