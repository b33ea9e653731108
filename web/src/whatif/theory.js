// The expectations of theory for every bottleneck link, and the reasons why theory cannot say more.
import { html } from "../parts/html.js";
import { few, rate, share, size, time } from "../parts/numbers.js";

const isKnown = (value) => value !== null;
const UNKNOWN = {
  cell: "What a flow gets of a cell depends on air time, signal and load. Theory gives no fair share.",
  rate: "The rate of a link varies. Theory gives no fair share.",
  routes: "Routes change during the run. Theory gives no fair share.",
  relay: "A host on the path relays connections. Theory gives no fair share.",
  traffic: "Other traffic takes an unknown part of the path. Theory gives no fair share.",
};

export function Theory({ begin }) {
  const links = begin.expected, others = begin.expected_in_all - links.length;
  if (!links.length) return null;
  const reasons = [...new Set(links.map((link) => link.unknown).filter(Boolean))];
  return html`<div class="theories" role="group" aria-label="What theory expects">
    ${links.map((link) => html`${links.length > 1 && html`<p class="note">${link.link}</p>`}<${OfLink} link=${link} />`)}
    ${others > 0 && html`<p class="note">${others > 1 ? `and ${others} more links that limit flows` : "and one more link that limits flows"}</p>`}
    ${reasons.map((reason) => html`<p class="note">${UNKNOWN[reason]}</p>`)}
  </div>`;
}

function OfLink({ link }) {
  const window = () => `${few(link.window_packets)}${link.full_window_packets ? ` to ${few(link.full_window_packets)}` : ""} packets`;
  const rows = [
    link.unknown === "cell" && ["Peak rate", rate(link.rate_bps), "Rate of a single station at its best signal"],
    isKnown(link.bdp_bytes) && ["BDP", `${size(link.bdp_bytes)}, ${few(link.bdp_packets)} packets`, "Bandwidth-delay product: rate × the longest round trip"],
    isKnown(link.fair_share_bps) && ["Fair share", rate(link.fair_share_bps), "Payload per flow: max-min fair, without retransmissions and ACKs"],
    isKnown(link.window_packets) && ["Window per flow", window(), "From a full path with an empty buffer to a full buffer"],
    isKnown(link.full_wait_s) ? ["Full buffer", `${time(link.full_wait_s)} of waiting`, "Queueing delay behind a full buffer"]
      : isKnown(link.target_wait_s) && ["Queue aims at", `${time(link.target_wait_s)} of waiting`, "Queueing delay at which the queue discipline aims"],
    isKnown(link.bbr1_share) && ["BBRv1's share", share(link.bbr1_share, 2), "Ware et al., IMC 2019, for long-lived flows"],
  ].filter(Boolean);
  return rows.length > 0 && html`<dl class="theory">
    ${rows.map(([name, value, why]) => html`<div title=${why}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
