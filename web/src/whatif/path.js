// The path drawn: senders, the queue before the narrow link, receivers.
import { html } from "../parts/html.js";
import { Network } from "./network.js";
import { few, rate, time } from "../parts/numbers.js";

const MOST = 24, LETTER = 6.2, ROOM = 62; // letters of a name, the width of one, and the room that there is beside a circle
const name = (flow) => (flow.name.length > MOST ? `${flow.name.slice(0, MOST - 1)}…` : flow.name);
const WIDTH = 560, HEIGHT = 96, MIDDLE = 44;

// A graph by its nodes, and what shares one link as a dumbbell.
export function Path(props) {
  const { path } = props.begin;
  if (path.shape === "unknown") return html`<p class="note">This was measured on a path that is not known.</p>`;
  if (path.shape === "dumbbell") return html`<${Dumbbell} ...${props} />`;
  if (!path.is_whole) return html`<p class="note">The network has too many nodes or links for a drawing.</p>`;
  return html`<${Network} ...${props} />`;
}

function Dumbbell({ begin, waiting }) {
  const [link] = begin.expected;
  if (!link) return null;
  const flows = begin.flows.slice(0, 6), gap = Math.min(18, 72 / Math.max(flows.length, 1));
  const y = (n) => MIDDLE + (n - (flows.length - 1) / 2) * gap;
  const more = Math.max(0, LETTER * Math.max(...flows.map((flow) => name(flow).length)) - ROOM); // of room, for long names
  const full = link.buffer_packets ? Math.min(1, (waiting || 0) / link.buffer_packets) : 0;
  const hop = begin.path.links.find((one) => one.name === link.link);
  const told = `${begin.flows_in_all} flows share a link of ${rate(link.rate_bps)}; a round trip takes ${time(link.rtt_s)}; `
    + (link.buffer_packets ? `${few(link.buffer_packets)} packets may wait` : `its queue is ${hop?.queue || "not limited"}`);
  return html`<svg class="path" viewBox=${`${-more} 0 ${WIDTH + more} ${HEIGHT}`} role="img" aria-label=${told}>
    ${flows.map((flow, n) => html`<g class=${`c${flow.colour}`}>
      <text x="62" y=${y(n) + 4} class="end">${name(flow)}</text><circle cx="72" cy=${y(n)} r="4" class="dot" /><path d=${`M77 ${y(n)} C115 ${y(n)} 120 ${MIDDLE} 160 ${MIDDLE}`} class=${`line d${flow.dash}`} />
      <path d=${`M410 ${MIDDLE} C460 ${MIDDLE} 470 ${y(n)} 538 ${y(n)}`} class=${`line d${flow.dash}`} /><circle cx="546" cy=${y(n)} r="5" class="dot" />
    </g>`)}
    <rect x="160" y=${MIDDLE - 15} width="70" height="30" rx="3" class="buffer" />
    <rect x=${230 - 70 * full} y=${MIDDLE - 15} width=${70 * full} height="30" class="filled" />
    <path d=${`M230 ${MIDDLE} H410`} class="wire" />
    <path d=${`M402 ${MIDDLE - 5} L410 ${MIDDLE} L402 ${MIDDLE + 5}`} class="wire" />
    <text x="195" y=${MIDDLE + 32} class="middle">${link.buffer_packets ? `${few(link.buffer_packets)} packets` : hop?.queue}</text>
    <text x="320" y=${MIDDLE - 10} class="middle strong">${rate(link.rate_bps)}</text>
    <text x="320" y=${MIDDLE + 20} class="middle">round trip ${time(link.rtt_s)}</text>
    ${begin.flows_in_all > flows.length && html`<text x="14" y=${HEIGHT - 2}>and ${begin.flows_in_all - flows.length} more</text>`}
  </svg>`;
}
