// The result in a sentence, and a row per flow.
import { html, useRef, useState } from "../parts/html.js";
import { Command } from "../parts/copy.js";
import { change, count, plain, rate, score, share, sum, time } from "../parts/numbers.js";
import { swatch } from "../parts/swatch.js";

const EVEN = 0.03; // a share of the total goodput that differs by less than this from an equal share is called even
export const goodputs = (end) => end.flows.map((flow) => flow.goodput_bps || 0);
const isKnown = (value) => value !== null && value !== undefined;
const dropped = (flow) => (isKnown(flow.dropped_packets) && flow.sent_packets ? flow.dropped_packets / flow.sent_packets : null);
const callsOf = (end) => end.flows.filter((flow) => isKnown(flow.call_score));
const meanOf = (flows, valueOf) => {
  const known = flows.map(valueOf).filter(isKnown);
  return known.length ? sum(known) / known.length : null;
};

// The quality of the calls of a run, in a sentence.
function calling(end) {
  const calls = callsOf(end);
  if (!calls.length) return "";
  const [who, are] = calls.length > 1 ? ["The calls score", "their"] : ["The call scores", "its"];
  return ` ${who} ${score(meanOf(calls, (flow) => flow.call_score))} of 4.5 (MOS): ${are} packets take ${time(meanOf(calls, (flow) => flow.owd_mean_s))} one way, and ${share(meanOf(calls, dropped), 2)} of them are dropped.`;
}

const MOST_NAMED = 4; // maximum number of names of flows or algorithms in a sentence

// The result of a run that has ended, in a sentence. The sentence compares algorithms or, if no algorithm is known,
// flows.
export function sentenceOf({ begin, end }) {
  const carried = end.flows.filter((flow) => flow.protocol === "tcp"), flows = carried.length ? carried : end.flows;
  const link = end.links.find((one) => one.link === begin.links[0]);
  const whole = end.totals.goodput_bps, calls = callsOf(end).length; // goodput over one time span for all flows, calls included
  const by = {}, counts = {}, nameOf = (flow) => flow.cca || (carried.length ? flow.flow : "");
  for (const flow of flows) {
    by[nameOf(flow)] = (by[nameOf(flow)] || 0) + (flow.share || 0);
    counts[nameOf(flow)] = (counts[nameOf(flow)] || 0) + 1;
  }
  const names = Object.keys(by), most = names.reduce((best, name) => (by[name] > by[best] ? name : best), names[0]);
  const shared = sum(flows.map((flow) => flow.share || 0)); // 0: the flows were never all active at the same time; above 1: flows in both directions
  const isEven = Math.abs(by[most] / shared - counts[most] / flows.length) < EVEN;
  const listed = names.length > MOST_NAMED ? `${names.length} flows or algorithms` : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  const isUneven = new Set(Object.values(counts)).size > 1;
  const taker = counts[most] > 1 ? `the ${count(counts[most])} ${most} flows take` : `${most} takes`;
  const fair = isUneven ? ` (fair share ${share(counts[most] / flows.length, 2)})` : "";
  const shares = flows.length === 1 ? `the flow carries ${rate(flows[0].goodput_bps)}${calls ? " beside the call" : ""}`
    : names.length === 1 || !shared || shared > 1 + EVEN ? `${names.length === 1 ? "the flows" : listed} carry ${rate(whole)} in total${calls ? ", calls included" : ""}`
      : isEven ? `${listed} share ${rate(whole)} evenly` : `${taker} ${share(by[most], 2)} of ${rate(whole)}${fair}`;
  const waits = link ? `; packets wait ${time(link.sojourn_mean_s)} on average` : "";
  const dropped = link ? (link.dropped_packets ? `, and ${count(link.dropped_packets)} are dropped` : ", and none is dropped") : "";
  return whole ? `In this run ${shares}${waits}${dropped}.${calling(end)}` : "Nothing arrives in this run.";
}

// Leads from one seed to more seeds, by `Offer` or by a command. Imported measurements have no seeds.
function MoreSeeds({ begin, Offer }) {
  if (begin.path.shape === "unknown") return null;
  const command = (begin.command || `fullpipe run scenario.toml --seed ${begin.seed}`).replace(/--seed \d+/, "--seeds 20");
  return html`<div class="note more-seeds">${Offer ? html`<${Offer} seed=${begin.seed} />` : html`<details><summary>One run, seed ${begin.seed}: run more seeds</summary>
    <${Command} text=${command} label="Command for more seeds" /></details>`}</div>`;
}

// The sentence of a run. The page shows the sentence of the previous run until the next run has ended.
export function useSentence({ begin, end }) {
  const last = useRef("");
  if (end) last.current = sentenceOf({ begin, end });
  return last.current || "Running …";
}

export function Sentence({ begin, end, problems, isRunning, columns, Offer }) {
  const sentence = useSentence({ begin, end });
  if (problems.length) return html`<div class="problem" role="alert">${problems.map((line) => html`<p>${line}</p>`)}</div>`;
  const reached = columns.time_s?.length ? columns.time_s[columns.time_s.length - 1] : 0;
  return html`<p class="sentence" aria-live="polite">${end || isRunning ? sentence : ""}</p>
    ${begin && html`<${MoreSeeds} begin=${begin} Offer=${Offer} />`}
    ${isRunning && begin && html`<progress class="reached" max=${begin.duration_s} value=${reached} aria-label="Simulated time so far"></progress>`}`;
}

const column = (name, shown, valueOf) => ({ name, shown, valueOf });
const OF_ALL = [
  column("goodput", rate, (flow) => flow.goodput_bps), column("mean RTT", (value) => time(value), (flow) => flow.rtt_mean_s),
  column("p95 RTT", (value) => time(value), (flow) => flow.rtt_p95_s),
];
const OF_LOSS = [column("dropped", (value) => share(value, 2), dropped)];
const OF_SENDERS = [column("retransmitted", count, (flow) => flow.retransmitted_packets)];
const OF_CALLS = [column("call score (MOS)", score, (flow) => flow.call_score)];
const OF_DATAGRAMS = [column("one way", (value) => time(value), (flow) => flow.owd_mean_s)]; // shown for datagrams only, because connections have the RTT column

const MOST_ROWS = 200; // rows shown until the user asks for all

// The range of goodput over the flows that share a line.
function spread(flows) {
  const known = flows.map((flow) => flow.goodput_bps).filter(isKnown).sort((a, b) => a - b);
  return known.length ? `: goodput ${rate(known[0])} to ${rate(known[known.length - 1])}, mean ${rate(sum(known) / known.length)}` : "";
}

// A place at which a long heading may be broken in a narrow column.
const broken = (name) => (name === "retransmitted" ? html`retrans<wbr />mitted` : name);

// A table of all flows, grouped by the line that they share in the figures.
export function Flows({ begin, end }) {
  const [isWhole, setIsWhole] = useState(false);
  if (!end) return null;
  const has = (valueOf, flows = end.flows) => flows.some((flow) => isKnown(valueOf(flow)));
  const datagrams = end.flows.filter((flow) => flow.protocol !== "tcp");
  const ofSome = [[OF_CALLS], [OF_DATAGRAMS, datagrams], [OF_LOSS]].filter(([[first], flows]) => has(first.valueOf, flows)).flatMap(([columns]) => columns);
  const columns = [...OF_ALL, ...ofSome, ...OF_SENDERS], members = begin.lines.map(() => []);
  end.flows.forEach((flow, n) => members[begin.flows[n].line].push({ ...flow, label: begin.flows[n].label }));
  let left = isWhole ? Infinity : MOST_ROWS;
  const shown = members.map((flows) => {
    const some = flows.slice(0, left);
    left -= some.length;
    return some;
  });
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Flows"><table class="flows">
    <thead><tr><th scope="col">flow</th><th scope="col" class="n" title="Share of the bytes that all flows of one direction deliver while all bulk flows are active">share</th>${columns.map(({ name }) => html`<th scope="col" class="n">${broken(name)}</th>`)}</tr></thead>
    ${begin.lines.map((line, n) => html`<tbody>
      ${line.flows > 1 && html`<tr class="group"><th colspan=${columns.length + 2} scope="rowgroup">${swatch(line)}${line.label}${spread(members[n])}</th></tr>`}
      ${shown[n].map((flow) => html`<tr>
        <th scope="row">${swatch(line)}${flow.label}</th>
        <td class="n" data-head="share">${share(flow.share, 2)}</td>
        ${columns.map(({ name, valueOf, shown: said }) => html`<td class="n" data-head=${name}>${said(valueOf(flow))}</td>`)}
      </tr>`)}</tbody>`)}</table></div>
    ${!isWhole && end.flows.length > MOST_ROWS && html`<p><button type="button" onClick=${() => setIsWhole(true)}>List all ${count(end.flows.length)} flows</button></p>`}`;
}

const points = (from, to) => `${to > from ? "+" : to < from ? "−" : "±"}${score(Math.abs(to - from))}`; // scores have differences, not ratios

// Differences of variant B from variant A, from one run of each.
export function Difference({ a, b }) {
  if (!a.end || !b.end) return null;
  const of = (flows, valueOf) => [flows(a.end), flows(b.end)].map((each) => meanOf(each, valueOf));
  const every = (end) => end.flows;
  const link = (state) => state.end.links.find((one) => one.link === state.begin.links[0]) || {};
  const rows = [
    ["goodput of all, in total", a.end.totals.goodput_bps, b.end.totals.goodput_bps, rate],
    ["RTT, mean of flows", ...of(every, (flow) => flow.rtt_mean_s), time],
    ["RTT, 95th percentile", ...of(every, (flow) => flow.rtt_p95_s), time],
    ["call score (MOS)", ...of(callsOf, (flow) => flow.call_score), score, points],
    ["one-way delay of calls", ...of(callsOf, (flow) => flow.owd_mean_s), time],
    ["packets of calls dropped", ...of(callsOf, dropped), (value) => share(value, 2)],
    ["queueing delay", link(a).sojourn_mean_s, link(b).sojourn_mean_s, time],
    ["Jain's index", a.end.totals.jain, b.end.totals.jain, (value) => plain(value, 3)],
    ["packets dropped at the link", link(a).dropped_packets, link(b).dropped_packets, count],
  ].filter(([, from, to]) => isKnown(from) && isKnown(to));
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Variant B against variant A"><table class="difference">
    <thead><tr><th scope="col">this run</th><th scope="col" class="n">A</th><th scope="col" class="n">B</th><th scope="col" class="n">B against A</th></tr></thead>
    <tbody>${rows.map(([name, from, to, shown, by = change]) => html`<tr><th scope="row">${name}</th><td class="n">${shown(from)}</td><td class="n">${shown(to)}</td><td class="n">${by(from, to)}</td></tr>`)}</tbody>
  </table></div>`;
}
