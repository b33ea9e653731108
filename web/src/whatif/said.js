// What came out, in a sentence; what theory expects; and a row per flow.
import { html } from "../parts/html.js";
import { change, count, few, plain, rate, share, size, sum, time } from "../parts/numbers.js";

const EVEN = 0.03; // of the whole: a share that is so near to that of equal flows is called even
export const goodputs = (end) => end.flows.map((flow) => flow.goodput_bps || 0);

// What came out of a run that has ended, in a sentence.
export function sentenceOf({ begin, end }) {
  const all = sum(goodputs(end)), link = end.links.find((one) => one.link === begin.links[0]);
  const by = {};
  for (const flow of end.flows) by[flow.cca] = (by[flow.cca] || 0) + (flow.goodput_bps || 0);
  const names = Object.keys(by), most = names.reduce((best, name) => (by[name] > by[best] ? name : best), names[0]);
  const counts = {};
  for (const flow of end.flows) counts[flow.cca] = (counts[flow.cca] || 0) + 1;
  const isEven = Math.abs(by[most] / all - counts[most] / end.flows.length) < EVEN;
  const listed = `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  const shares = names.length === 1 ? `${end.flows.length > 1 ? "The flows carry" : "The flow carries"} ${rate(all)}`
    : isEven ? `${listed} share ${rate(all)} evenly` : `${most} takes ${share(by[most] / all, 2)} of ${rate(all)}`;
  const waits = link ? `; packets wait ${time(link.sojourn_mean_s, 2)} on average` : "";
  const lost = link ? (link.dropped_packets ? `, and ${count(link.dropped_packets)} are dropped` : ", and none is dropped") : "";
  return all ? `${shares}${waits}${lost}.` : "Nothing arrives.";
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

const COLUMNS = [
  ["goodput", "goodput_bps", rate], ["RTT", "rtt_mean_s", (value) => time(value)], ["95 %", "rtt_p95_s", (value) => time(value)],
  ["sent again", "retransmitted_packets", count],
];

export function Flows({ begin, end }) {
  if (!end) return null;
  const all = sum(goodputs(end));
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Flows"><table>
    <thead><tr><th scope="col">flow</th><th scope="col" class="n">share</th>${COLUMNS.map(([name]) => html`<th scope="col" class="n">${name}</th>`)}</tr></thead>
    <tbody>${end.flows.slice(0, begin.flows.length).map((flow, n) => html`<tr>
      <th scope="row"><svg class=${`swatch c${begin.flows[n].colour}`} viewBox="0 0 22 8" aria-hidden="true"><path d="M0 4H22" class=${`line d${begin.flows[n].dash}`} /></svg>${flow.flow}</th>
      <td class="n">${share(all ? flow.goodput_bps / all : null, 2)}</td>
      ${COLUMNS.map(([, key, shown]) => html`<td class="n">${shown(flow[key])}</td>`)}
    </tr>`)}</tbody></table></div>
    ${begin.flows_in_all > begin.flows.length && html`<p class="note">The first ${begin.flows.length} of ${begin.flows_in_all} flows.</p>`}`;
}

// What B does against A, of one run each.
export function Difference({ a, b }) {
  if (!a.end || !b.end) return null;
  const mean = (flows, key) => {
    const known = flows.map((flow) => flow[key]).filter((value) => value !== null && value !== undefined);
    return known.length ? sum(known) / known.length : null;
  };
  const link = (state) => state.end.links.find((one) => one.link === state.begin.links[0]) || {};
  const rows = [
    ["goodput of all", sum(goodputs(a.end)), sum(goodputs(b.end)), rate],
    ["RTT, mean of flows", mean(a.end.flows, "rtt_mean_s"), mean(b.end.flows, "rtt_mean_s"), time],
    ["RTT, 95th percentile", mean(a.end.flows, "rtt_p95_s"), mean(b.end.flows, "rtt_p95_s"), time],
    ["wait in the queue", link(a).sojourn_mean_s, link(b).sojourn_mean_s, time],
    ["Jain's index", a.end.totals.jain, b.end.totals.jain, (value) => plain(value, 3)],
    ["dropped", link(a).dropped_packets, link(b).dropped_packets, count],
  ].filter(([, from, to]) => from !== null && to !== null && from !== undefined && to !== undefined);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Variant B against variant A"><table class="difference">
    <thead><tr><th scope="col">this run</th><th scope="col" class="n">A</th><th scope="col" class="n">B</th><th scope="col" class="n">B against A</th></tr></thead>
    <tbody>${rows.map(([name, from, to, shown]) => html`<tr><th scope="row">${name}</th><td class="n">${shown(from)}</td><td class="n">${shown(to)}</td><td class="n">${change(from, to)}</td></tr>`)}</tbody>
  </table></div>`;
}
