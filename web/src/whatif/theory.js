// The predictions of theory for every bottleneck link, and the reasons for missing predictions.
import { html } from "../parts/html.js";
import { few, rate, share, size, time } from "../parts/numbers.js";

const isKnown = (value) => value !== null;
const UNKNOWN = {
  cell: "The rate of a flow in a cell depends on airtime, signal and load, so theory gives no fair share.",
  rate: "The rate of a link varies, so theory gives no fair share.",
  routes: "Routes change during the run, so theory gives no fair share.",
  relay: "A proxy on the path splits TCP connections in two, so theory gives no fair share.",
  traffic: "Other traffic uses an unknown part of the path, so theory gives no fair share.",
};

export function Theory({ begin }) {
  const links = begin.expected, others = begin.expected_in_all - links.length;
  if (!links.length) return null;
  const reasons = [...new Set(links.map((link) => link.unknown).filter(Boolean))];
  return html`<div class="theories" role="group" aria-label="Predictions of theory">
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
    isKnown(link.window_packets) && ["Window per flow", window(), "Smallest window: the path is full and the buffer is empty. Largest window: the buffer is full"],
    isKnown(link.full_wait_s) ? ["Full buffer", `${time(link.full_wait_s)} queueing delay`, "Queueing delay of a full buffer"]
      : isKnown(link.target_wait_s) && ["Target of the queue", `${time(link.target_wait_s)} queueing delay`, "Target of the queue discipline for the queueing delay"],
    isKnown(link.bbr1_share) && ["BBRv1's share", share(link.bbr1_share, 2), "Prediction of Ware et al., IMC 2019, for long-lived flows"],
  ].filter(Boolean);
  return rows.length > 0 && html`<dl class="theory">
    ${rows.map(([name, value, why]) => html`<div title=${why}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
