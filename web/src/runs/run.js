// One stored run, or two stored runs side by side with a verdict for every metric.
import { html, useEffect, useState } from "../parts/html.js";
import { edit } from "../editor/page.js";
import { Command } from "../parts/copy.js";
import { download } from "../save/download.js";
import { FIRST_SEEDS, Keep } from "../parts/keep.js";
import { Packets } from "../packets/packets.js";
import { Report } from "../parts/report.js";
import { Results } from "../parts/result.js";
import { Refused, columnsOf, get, getBytes, post, postText } from "../parts/server.js";
import { TakeAlong, Verdicts } from "../parts/verdicts.js";
import { Difference } from "../whatif/said.js";

const WAITING = { begin: null, columns: {}, end: null, problems: [], isRunning: true };
const saying = (error) => (error instanceof Refused ? error.problems : ["the server does not answer"]);

const MOST_PACKETS = 400_000; // maximum number of packets that the server sends in one response

async function read(id, signal) {
  const [told, bytes] = await Promise.all([get(`/api/run/${id}`, signal), getBytes(`/api/run/${id}/samples`, signal)]);
  return { ...told, columns: columnsOf(bytes), problems: [], isRunning: false };
}

// Fetches the captured packets from a given time on, and adds a function that fetches later packets.
async function withPackets(id, state, put, signal, from = 0) {
  const packets = new Packets(columnsOf(await getBytes(`/api/run/${id}/packets?from=${from}`, signal)));
  const last = packets.length ? packets.times[packets.length - 1] : 0, isPart = packets.length >= MOST_PACKETS;
  const again = (start) => () => withPackets(id, state, put, signal, start).catch((error) => put({ ...state, problems: saying(error) }));
  const more = isPart ? { label: `Packets from ${last.toFixed(2)} s on`, later: again(last.toFixed(9)) }
    : from ? { label: "Packets from the start", later: again(0) } : null;
  put({ ...state, packets: packets.length ? packets : null, more });
}

function useRuns(ids) {
  const [states, setStates] = useState(ids.map(() => WAITING));
  useEffect(() => {
    const stop = new AbortController();
    setStates(ids.map(() => WAITING));
    ids.forEach((id, n) => {
      const put = (state) => { if (!stop.signal.aborted) setStates((before) => before.map((one, at) => (at === n ? state : one))); };
      read(id, stop.signal).then((state) => {
        put(state);
        if (state.begin.lanes.length) withPackets(id, state, put, stop.signal).catch((error) => put({ ...state, problems: saying(error) }));
      }, (error) => put({ ...WAITING, isRunning: false, problems: saying(error) }));
    });
    return () => stop.abort();
  }, [ids.join()]);
  return states;
}

// What distinguishes a run from others with its name: the file of an imported run, otherwise the seed.
const which = ({ begin, meta }) => meta.file || `seed ${begin.seed}`;
const titleOf = (state, isOfSeveral) => (state.begin ? [state.begin.name, which(state), isOfSeveral ? state.meta.engine : ""].filter(Boolean).join(", ") : "…");
// Shows text between backticks as code.
const marked = (line) => line.split("`").map((part, n) => (n % 2 ? html`<code>${part}</code>` : part));

const idsOf = (rest) => {
  const words = rest.map(decodeURIComponent), ids = [];
  for (let n = 0; n + 2 < words.length; n += 3) ids.push(words.slice(n, n + 3).join("/"));
  return ids;
};

export function OneRun({ rest }) {
  const ids = idsOf(rest).slice(0, 1), [state] = useRuns(ids);
  if (!ids.length) return html`<div class="wide-page"><p class="problem" role="alert">The address of the page names no run. <a href="#/runs">All runs</a></p></div>`;
  const { begin, meta } = state;
  const report = (question) => postText("/api/runs/report", { runs: ids, question });
  return html`<div class="wide-page">
    <p class="crumbs"><a href="#/runs">Runs</a></p>
    <h1 class="cut">${begin ? begin.name : "…"}</h1>
    ${meta && html`<p class="note">${which(state)}, engine ${meta.engine} ${meta.version}, ${meta.started.slice(0, 10)}, ${begin.digest}</p>`}
    <${Results} states=${[state]} titles=${[""]} />
    ${begin && html`<${Report} label="Report" name="report.html" make=${report}>
        ${!meta.file && html`<button type="button" onClick=${() => download("scenario.toml", begin.toml, "application/toml")}>Scenario</button>
          <button type="button" onClick=${() => edit(begin.toml)}>Edit as a file</button>`}<//>
      ${begin.command && html`<p class="note">The same run in a terminal:</p><${Command} text=${begin.command} label="Command" />`}
      ${[...meta.remarks, ...begin.notes].map((line) => html`<p class="note">${marked(line)}</p>`)}
      <details><summary>${meta.file ? "The flows as a scenario, whose rate and delay are placeholders" : "The scenario as TOML"}</summary><pre tabindex="0"><code>${begin.toml}</code></pre></details>`}
  </div>`;
}

// Digest and engine of a run, without its seed.
const scenarioOf = (id) => id.split("/").filter((_, n) => n !== 1).join("/");

export function TwoRuns({ known, rest }) {
  const ids = idsOf(rest).slice(0, 2), states = useRuns(ids);
  const [result, setResult] = useState({ told: null, problems: [] }), [asked, setAsked] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setResult({ told: null, problems: [] });
    if (ids.length === 2) post("/api/runs/compare", { runs: ids }, stop.signal).then((told) => setResult({ told, problems: [] }), (error) => { if (!stop.signal.aborted) setResult({ told: null, problems: saying(error) }); });
    return () => stop.abort();
  }, [ids.join(), asked]);
  if (ids.length < 2) return html`<div class="wide-page"><p>A comparison needs two runs. <a href="#/runs">Choose two runs in the list.</a></p></div>`;
  const [a, b] = states, engines = new Set(states.map(({ meta }) => meta?.engine));
  const isOneScenario = scenarioOf(ids[0]) === scenarioOf(ids[1]), canRunMore = !isOneScenario && engines.size === 1 && engines.has("native");
  const titles = states.map((state, n) => `${"AB"[n]}: ${titleOf(state, engines.size > 1)}`);
  return html`<div class="wide-page">
    <p class="crumbs"><a href="#/runs">Runs</a></p>
    <h1>${result.told ? `${result.told.variant} against ${result.told.reference}` : isOneScenario ? "Two runs of one scenario" : "B against A"}</h1>
    ${result.problems.map((line) => html`<p class="problem" role="alert">No verdicts: ${line}.</p>`)}
    ${result.told && html`<${Verdicts} result=${result.told} known=${known} />
      <${TakeAlong} command=${result.told.command} files=${states.map((state, n) => [result.told.files[n], state.begin?.toml])}
        report=${(question) => postText("/api/runs/compare/report", { runs: ids, question })} />`}
    ${canRunMore && html`<${Keep} known=${known} scenarios=${states.map((state) => state.begin.toml)} seeds=${FIRST_SEEDS} isSeen
      label=${`Run ${FIRST_SEEDS.length} seeds of each`} onKept=${() => setAsked(asked + 1)} />`}
    <${Results} states=${states} titles=${titles} />
    ${!isOneScenario && html`<${Difference} a=${a} b=${b} />`}
  </div>`;
}
