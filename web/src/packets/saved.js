// The visible part of packet lanes as a picture and as a table.
import { inLight, variable } from "../parts/theme.js";
import { sheet } from "../save/sheet.js";
import { drawn, heightOf } from "./drawing.js";
import { Pen } from "./pen.js";

const KINDS = ["data", "ACK", "SYN"];
export const WIDTH = 720; // width of a saved picture, independent of the width of the screen

// `chart`: {title, packets, view, printed, begin, counts}. `printed` is the view of the saved picture, and `counts` is
// the return value of `drawn`.
export const lanesPicture = ({ title, packets, printed, begin }) => inLight(() => {
  const pen = new Pen();
  const legend = [...begin.lines.map(({ label, colour }) => ({ label, colour: variable(`--c${colour}`) })), { label: "retransmitted", colour: variable("--fore") }, { label: "dropped", colour: variable("--bad") }];
  drawn(pen, packets, printed, begin.lanes, begin.lines);
  return sheet({ title, legend, width: WIDTH, height: heightOf(begin.lanes) }, pen.made);
});

const ifThere = (value, text) => (value ? text : "");

// One row per packet or, if packets are drawn as counts, one row per lane and column of the picture.
export function lanesRows({ packets, view, begin, counts }) {
  return counts ? countRows(counts, view, begin) : packetRows(packets, view, begin);
}

function packetRows(packets, view, begin) {
  const rows = [["time, s", "at", "flow", "kind", "first byte", "bytes", "retransmitted", "ECN-marked", "dropped", "to", "arrives there after, s"]];
  for (let n = view.inside; n < view.last; n += 1) {
    if (!view.isWanted(n)) continue;
    const takes = packets.takes_s[n], isUnderway = !packets.is_lost[n] && !Number.isNaN(takes);
    rows.push([
      Number(packets.times[n].toFixed(9)), begin.lanes[packets.lane[n]], begin.flows[packets.flow[n]]?.name ?? "", KINDS[packets.kind[n]] ?? "", packets.byte(n), packets.len[n],
      ifThere(packets.is_again[n], "yes"), ifThere(packets.is_marked[n], "yes"), ifThere(packets.is_lost[n], "yes"),
      isUnderway ? begin.lanes[packets.to[n]] : "", isUnderway ? Number(takes.toPrecision(7)) : null,
    ]);
  }
  return rows;
}

function countRows({ columns, kinds, all, lost, again }, view, begin) {
  const hasOthers = all.some((packets, at) => packets && Math.floor(at / columns) % kinds >= 2 * begin.lines.length);
  const flows = [...begin.lines.map(({ label }) => label), ...(hasOthers ? ["another flow"] : [])];
  const rows = [["from, s", "to, s", "at", ...flows.flatMap((flow) => [`${flow}: data, packets`, `${flow}: ACKs, packets`]), "retransmitted, packets", "dropped behind it, packets"]];
  const time = (column) => Number((view.from + column / view.scale).toFixed(9));
  begin.lanes.forEach((name, lane) => {
    for (let column = 0; column < columns; column += 1) {
      const passing = Array.from({ length: 2 * flows.length }, (_, kind) => all[(lane * kinds + kind) * columns + column]), at = lane * columns + column;
      if (passing.some(Boolean) || lost[at] || again[at]) rows.push([time(column), time(column + 1), name, ...passing, again[at], lost[at]]);
    }
  });
  return rows;
}
