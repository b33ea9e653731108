// A drawing of the path: senders, the queue before the bottleneck, receivers.
import { html, useRef } from "../parts/html.js";
import { Network, rated } from "./network.js";
import { few, sum, time } from "../parts/numbers.js";
import { Save } from "../parts/save.js";
import { inlined } from "../save/inlined.js";

const MOST = 24, LETTER = 6.2, ROOM = 62; // maximum number of letters of a name; width of a letter and space beside a circle, in pixels
const MOST_LINES = 6, MOST_RATES = 2;
const name = ({ label }) => (label.length > MOST ? `${label.slice(0, MOST - 1)}…` : label);
const WIDTH = 560, HEIGHT = 96, MIDDLE = 44;

// Flows that share one link are drawn as a dumbbell, any other network as a graph with its nodes.
export function Path(props) {
  const { path } = props.begin;
  if (path.shape === "unknown") return html`<p class="note">The path of this measurement is unknown.</p>`;
  if (path.shape === "dumbbell") return html`<${Drawing} begin=${props.begin}><${Dumbbell} ...${props} /><//>`;
  if (!path.is_whole) return html`<p class="note">The network has too many nodes or links for a drawing.</p>`;
  return html`<${Drawing} begin=${props.begin}><${Network} ...${props} /><//>`;
}

const LINK_HEAD = ["link", "from", "to", "rate, bit/s", "delay, s", "queue"];
const linkRow = (link) => [link.name, link.from ?? "", link.to ?? "", link.rate_bps, link.delay_s, link.queue ?? ""];

// A drawing with its save menu. The saved table has every link.
function Drawing({ begin, children }) {
  const place = useRef(null), title = `Path: ${begin.name}`;
  const chart = () => ({ title, picture: () => inlined(place.current.querySelector("svg"), title), rows: () => [LINK_HEAD, ...begin.path.links.map(linkRow)] });
  return html`<div class="drawing" ref=${place}>${children}<${Save} title="Path" chart=${chart} /></div>`;
}

function Dumbbell({ begin, waiting }) {
  const hops = begin.links.map((link) => begin.path.links.find((one) => one.name === link)).filter(Boolean), [hop] = hops;
  if (!hop) return null;
  const lines = begin.lines.slice(0, MOST_LINES), gap = Math.min(18, 72 / Math.max(lines.length, 1));
  const hidden = sum(begin.lines.slice(MOST_LINES).map((line) => line.flows));
  const y = (n) => MIDDLE + (n - (lines.length - 1) / 2) * gap;
  const more = Math.max(0, LETTER * Math.max(...lines.map((line) => name(line).length)) - ROOM); // additional room for long names
  const packets = begin.expected.find((one) => one.link === hop.name)?.buffer_packets;
  const full = packets ? Math.min(1, (waiting || 0) / packets) : 0, queue = packets ? `${few(packets)} packets` : hop.queue;
  const rates = [...new Set(hops.map(rated))].slice(0, MOST_RATES).join(" and "), [shortest, longest] = begin.path.rtts_s;
  const trip = shortest < longest ? `${time(shortest)} to ${time(longest)}` : time(longest);
  const told = `${begin.flows.length} flows over a link of ${rates}; round trip ${trip}; queue ${queue || "without limit"}`;
  return html`<svg class="path" viewBox=${`${-more} 0 ${WIDTH + more} ${HEIGHT}`} role="img" aria-label=${told}>
    ${lines.map((line, n) => html`<g class=${`c${line.colour}`}>
      <text x="62" y=${y(n) + 4} class="end">${name(line)}</text><circle cx="72" cy=${y(n)} r="4" class="dot" /><path d=${`M77 ${y(n)} C115 ${y(n)} 120 ${MIDDLE} 160 ${MIDDLE}`} class=${`line d${line.dash}`} />
      <path d=${`M410 ${MIDDLE} C460 ${MIDDLE} 470 ${y(n)} 538 ${y(n)}`} class=${`line d${line.dash}`} /><circle cx="546" cy=${y(n)} r="5" class="dot" />
    </g>`)}
    <rect x="160" y=${MIDDLE - 15} width="70" height="30" rx="3" class="buffer" />
    <rect x=${230 - 70 * full} y=${MIDDLE - 15} width=${70 * full} height="30" class="filled" />
    <path d=${`M230 ${MIDDLE} H410`} class="wire" />
    <path d=${`M402 ${MIDDLE - 5} L410 ${MIDDLE} L402 ${MIDDLE + 5}`} class="wire" />
    <text x="195" y=${MIDDLE + 32} class="middle">${queue}</text>
    <text x="320" y=${MIDDLE - (rates.length > 16 ? 20 : 10)} class="middle strong">${rates}</text>
    <text x="320" y=${MIDDLE + 20} class="middle">round trip ${trip}</text>
    ${hidden > 0 && html`<text x="14" y=${HEIGHT - 2}>and ${hidden} more</text>`}
  </svg>`;
}
