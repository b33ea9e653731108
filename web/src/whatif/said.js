// What came out, in a sentence; what theory expects; and a row per flow.
import { html } from "../parts/html.js";
import { change, count, few, plain, rate, score, share, size, sum, time } from "../parts/numbers.js";

const EVEN = 0.03; // of the whole: a share that is so near to that of equal flows is called even
export const goodputs = (end) => end.flows.map((flow) => flow.goodput_bps || 0);
const isKnown = (value) => value !== null && value !== undefined;
const lost = (flow) => (isKnown(flow.lost_packets) && flow.sent_packets ? flow.lost_packets / flow.sent_packets : null);
const callsOf = (end) => end.flows.filter((flow) => isKnown(flow.call_score));
const meanOf = (flows, valueOf) => {
  const known = flows.map(valueOf).filter(isKnown);
  return known.length ? sum(known) / known.length : null;
};

// How the calls of a run fare, in a sentence.
function calling(end) {
  const calls = callsOf(end);
  if (!calls.length) return "";
  const [who, are] = calls.length > 1 ? ["The calls score", "their"] : ["The call scores", "its"];
  return ` ${who} ${score(meanOf(calls, (flow) => flow.call_score))} of 4.5 (MOS): ${are} packets take ${time(meanOf(calls, (flow) => flow.owd_mean_s))} one way, and ${share(meanOf(calls, lost), 2)} of them are lost.`;
}

const MOST_NAMED = 4; // in a sentence

// What came out of a run that has ended, in a sentence. Algorithms are compared, and flows where no algorithm is known.
export function sentenceOf({ begin, end }) {
  const carried = end.flows.filter((flow) => flow.protocol === "tcp"), flows = carried.length ? carried : end.flows;
  const all = sum(goodputs({ flows })), link = end.links.find((one) => one.link === begin.links[0]);
  const whole = sum(goodputs(end)); // as in the table below, with calls
  const by = {}, counts = {}, nameOf = (flow) => flow.cca || (carried.length ? flow.flow : "");
  for (const flow of flows) {
    by[nameOf(flow)] = (by[nameOf(flow)] || 0) + (flow.goodput_bps || 0);
    counts[nameOf(flow)] = (counts[nameOf(flow)] || 0) + 1;
  }
  const names = Object.keys(by), most = names.reduce((best, name) => (by[name] > by[best] ? name : best), names[0]);
  const isEven = Math.abs(by[most] / all - counts[most] / flows.length) < EVEN;
  const listed = names.length > MOST_NAMED ? `${names.length} flows or algorithms` : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  const shares = names.length === 1 ? `${flows.length > 1 ? "The flows carry" : "The flow carries"} ${rate(all)}${callsOf(end).length ? " beside the call" : ""}`
    : isEven ? `${listed} share ${rate(all)} evenly` : `${most} takes ${share(by[most] / whole, 2)} of ${rate(whole)}`;
  const waits = link ? `; packets wait ${time(link.sojourn_mean_s)} on average` : "";
  const dropped = link ? (link.dropped_packets ? `, and ${count(link.dropped_packets)} are dropped` : ", and none is dropped") : "";
  return all ? `${shares}${waits}${dropped}.${calling(end)}` : "Nothing arrives.";
}

export function Sentence({ begin, end, problems, isRunning, columns }) {
  if (problems.length) return html`<div class="problem" role="alert">${problems.map((line) => html`<p>${line}</p>`)}</div>`;
  const reached = columns.time_s?.length ? columns.time_s[columns.time_s.length - 1] : 0;
  return html`<p class="sentence" aria-live="polite">${end ? sentenceOf({ begin, end }) : isRunning ? "Running …" : ""}</p>
    ${isRunning && begin && html`<progress class="reached" max=${begin.duration_s} value=${reached} aria-label="Simulated time that is reached"></progress>`}`;
}

export function Theory({ begin }) {
  const [link] = begin.expected;
  if (!link) return null;
  const rows = [
    ["Fills the path", `${size(link.bdp_bytes)}, ${few(link.bdp_packets)} packets`, "Bandwidth-delay product: rate × round trip"],
    ["Fair share", rate(link.fair_share_bps), "Payload per flow if all get the same"],
    ["Window per flow", `${few(link.window_packets)}${link.full_window_packets ? ` to ${few(link.full_window_packets)}` : ""} packets`,
      "From a path that is just full to a buffer that overflows"],
    link.full_wait_s ? ["Full buffer", `${time(link.full_wait_s)} of waiting`, "Behind all that the buffer holds"]
      : link.target_wait_s ? ["Queue aims at", `${time(link.target_wait_s)} of waiting`, "The target of the queue discipline"] : null,
    link.bbr1_share !== null ? ["BBRv1's share", share(link.bbr1_share, 2), "Ware et al., IMC 2019, for flows that last"] : null,
  ].filter(Boolean);
  return html`<dl class="theory" aria-label="What theory expects">
    ${rows.map(([name, value, why]) => html`<div title=${why}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

const column = (name, shown, valueOf) => ({ name, shown, valueOf });
const OF_ALL = [
  column("goodput", rate, (flow) => flow.goodput_bps), column("RTT", (value) => time(value), (flow) => flow.rtt_mean_s),
  column("95 %", (value) => time(value), (flow) => flow.rtt_p95_s),
];
const OF_SENDERS = [column("sent again", count, (flow) => flow.retransmitted_packets)];
const OF_CALLS = [column("call score (MOS)", score, (flow) => flow.call_score)];
const OF_DATAGRAMS = [column("one way", (value) => time(value), (flow) => flow.owd_mean_s), column("lost", (value) => share(value, 2), lost)];

export function Flows({ begin, end }) {
  if (!end) return null;
  const all = sum(goodputs(end)), has = (valueOf) => end.flows.some((flow) => isKnown(valueOf(flow)));
  const ofSome = [OF_CALLS, OF_DATAGRAMS].filter(([first]) => has(first.valueOf)).flat();
  const columns = [...OF_ALL, ...ofSome, ...OF_SENDERS];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Flows"><table class="flows">
    <thead><tr><th scope="col">flow</th><th scope="col" class="n">share</th>${columns.map(({ name }) => html`<th scope="col" class="n">${name}</th>`)}</tr></thead>
    <tbody>${end.flows.slice(0, begin.flows.length).map((flow, n) => html`<tr>
      <th scope="row"><svg class=${`swatch c${begin.flows[n].colour}`} viewBox="0 0 22 8" aria-hidden="true"><path d="M0 4H22" class=${`line d${begin.flows[n].dash}`} /></svg>${flow.flow}</th>
      <td class="n">${share(all && isKnown(flow.goodput_bps) ? flow.goodput_bps / all : null, 2)}</td>
      ${columns.map(({ valueOf, shown }) => html`<td class="n">${shown(valueOf(flow))}</td>`)}
    </tr>`)}</tbody></table></div>
    ${begin.flows_in_all > begin.flows.length && html`<p class="note">The first ${begin.flows.length} of ${begin.flows_in_all} flows.</p>`}`;
}

const points = (from, to) => `${to > from ? "+" : to < from ? "−" : "±"}${score(Math.abs(to - from))}`; // scores are no ratios

// What B does against A, of one run each.
export function Difference({ a, b }) {
  if (!a.end || !b.end) return null;
  const of = (flows, valueOf) => [flows(a.end), flows(b.end)].map((each) => meanOf(each, valueOf));
  const every = (end) => end.flows;
  const link = (state) => state.end.links.find((one) => one.link === state.begin.links[0]) || {};
  const rows = [
    ["goodput of all", sum(goodputs(a.end)), sum(goodputs(b.end)), rate],
    ["RTT, mean of flows", ...of(every, (flow) => flow.rtt_mean_s), time],
    ["RTT, 95th percentile", ...of(every, (flow) => flow.rtt_p95_s), time],
    ["call score (MOS)", ...of(callsOf, (flow) => flow.call_score), score, points],
    ["one-way delay of calls", ...of(callsOf, (flow) => flow.owd_mean_s), time],
    ["packets of calls lost", ...of(callsOf, lost), (value) => share(value, 2)],
    ["wait in the queue", link(a).sojourn_mean_s, link(b).sojourn_mean_s, time],
    ["Jain's index", a.end.totals.jain, b.end.totals.jain, (value) => plain(value, 3)],
    ["dropped", link(a).dropped_packets, link(b).dropped_packets, count],
  ].filter(([, from, to]) => isKnown(from) && isKnown(to));
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Variant B against variant A"><table class="difference">
    <thead><tr><th scope="col">this run</th><th scope="col" class="n">A</th><th scope="col" class="n">B</th><th scope="col" class="n">B against A</th></tr></thead>
    <tbody>${rows.map(([name, from, to, shown, by = change]) => html`<tr><th scope="row">${name}</th><td class="n">${shown(from)}</td><td class="n">${shown(to)}</td><td class="n">${by(from, to)}</td></tr>`)}</tbody>
  </table></div>`;
}
