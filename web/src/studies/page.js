// Published studies: printed values beside the values of our runs.
import { html, useEffect, useRef, useState } from "../parts/html.js";
import { Command } from "../parts/copy.js";
import { count, plain } from "../parts/numbers.js";
import { Save } from "../parts/save.js";
import { inlined } from "../save/inlined.js";
import { Refused, get } from "../parts/server.js";

const ORDER = ["reproduced", "same direction", "not reproduced", "contradicted by their own data", "not testable here"];
const classOf = (verdict) => `v-${verdict.replaceAll(" ", "-")}`;

function useAnswer(path) {
  const [state, setState] = useState({ answer: null, problems: [] });
  useEffect(() => {
    const stop = new AbortController();
    setState({ answer: null, problems: [] });
    get(path, stop.signal).then(
      (answer) => setState({ answer, problems: [] }),
      (error) => { if (!stop.signal.aborted) setState({ answer: null, problems: error instanceof Refused ? error.problems : ["the server does not answer"] }); },
    );
    return () => stop.abort();
  }, [path]);
  return state;
}

// Number of printed values per verdict, as a bar with a part for every verdict.
function Tally({ tally, title }) {
  const place = useRef(null);
  const all = ORDER.filter((verdict) => tally[verdict]), total = all.reduce((sum, verdict) => sum + tally[verdict], 0);
  let at = 0;
  const chart = () => ({
    title, rows: () => [["verdict", "printed numbers and claims"], ...all.map((verdict) => [verdict, tally[verdict]])],
    picture: () => inlined(place.current, title, () => all.map((verdict, n) => ({ label: `${count(tally[verdict])} ${verdict}`, colour: getComputedStyle(place.current.children[n]).fill }))),
  });
  return html`<svg class="tally" ref=${place} viewBox="0 0 400 12" preserveAspectRatio="none" aria-hidden="true">${all.map((verdict) => {
      const width = (400 * tally[verdict]) / total;
      at += width;
      return html`<rect class=${`part ${classOf(verdict)}`} x=${at - width} width=${Math.max(0, width - 1)} height="12" />`;
    })}</svg>
    <p class="note">${all.map((verdict) => `${count(tally[verdict])} ${verdict}`).join(", ")}<${Save} title=${`Verdicts, ${title}`} chart=${chart} /></p>`;
}

function NotRun({ study }) {
  return html`<p class="note">This study has not been run in this store yet. The command runs its quick form, which takes a minute or two; without <code>--quick</code> it runs the full study.</p><${Command} text=${study.command} label="Command" />`;
}

export function Studies() {
  const { answer, problems } = useAnswer("/api/studies");
  return html`<div class="wide-page"><h1>Studies</h1>
    <p>Published studies that fullpipe reruns: every printed number and claim, with the result of our runs.</p>
    ${problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}
    ${answer && answer.map((study) => html`<section class="study" key=${study.name}>
      <h2><a href=${`#/study/${study.name}`}>${study.title}</a></h2>
      <p class="note">${count(study.printed)} printed numbers and claims</p>
      ${Object.keys(study.tally).length ? html`<${Tally} tally=${study.tally} title=${study.title} />` : html`<${NotRun} study=${study} />`}
    </section>`)}
  </div>`;
}

const ours = (row) => {
  if (row.verdict === null) return "";
  if (row.compared > 1) return `${row.held} of ${row.compared} hold`;
  if (row.ours === null) return "–";
  const ends = row.ours_low === null ? "" : ` [${plain(row.ours_low, 3)}, ${plain(row.ours_high, 3)}]`;
  return `${plain(row.ours, 3)}${ends}${row.unit ? ` ${row.unit}` : ""}`;
};

// The figures that `fullpipe paper` has drawn: small figures side by side, and the chosen figure in full size.
function Figures({ study }) {
  const [large, setLarge] = useState("");
  const address = (name) => `/api/studies/${encodeURIComponent(study.name)}/${encodeURIComponent(name)}`;
  return html`<h2>Figures</h2><div class="drawn">${study.figures.map(({ name, title }) => html`<${Drawn} key=${name} title=${title} source=${address(name)}
    isLarge=${large === name} turn=${() => setLarge(large === name ? "" : name)} />`)}</div>`;
}

function Drawn({ title, source, isLarge, turn }) {
  const image = useRef(null);
  return html`<figure class=${isLarge ? "large" : ""}>
    <button type="button" class="plain" aria-expanded=${isLarge} aria-label=${`${title}: ${isLarge ? "smaller" : "larger"}`} onClick=${turn}>
      <img ref=${image} loading="lazy" src=${source} alt=${title} /></button>
    <figcaption>${title}<${Save} title=${title} kinds=${["PNG"]} chart=${() => ({ title, picture: () => image.current })} /></figcaption></figure>`;
}

export function OneStudy({ rest }) {
  const { answer, problems } = useAnswer(`/api/studies/${encodeURIComponent(rest[0] || "")}`);
  const [verdict, setVerdict] = useState(""), [text, setText] = useState("");
  if (!answer) return html`<div class="wide-page"><p class="crumbs"><a href="#/studies">Studies</a></p>${problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}</div>`;
  const wasRun = Object.keys(answer.tally).length > 0, wanted = text.toLowerCase();
  const rows = answer.rows.filter((row) => (!verdict || row.verdict === verdict) && `${row.where} ${row.printed} ${row.why || ""}`.toLowerCase().includes(wanted));
  return html`<div class="wide-page"><p class="crumbs"><a href="#/studies">Studies</a></p>
    <h1>${answer.title}</h1>
    ${wasRun ? html`<${Tally} tally=${answer.tally} title=${answer.title} />` : html`<${NotRun} study=${answer} />`}
    ${answer.figures.length > 0 && html`<${Figures} study=${answer} />`}
    <h2>Printed and measured</h2>
    <p class="buttons">
      <label>Only rows with <input type="search" value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      ${wasRun && html`<select aria-label="Verdict" value=${verdict} onChange=${(event) => setVerdict(event.target.value)}>
        <option value="">every verdict</option>${ORDER.filter((one) => answer.tally[one]).map((one) => html`<option value=${one}>${one}</option>`)}</select>`}
      <span class="note">${count(rows.length)} of ${count(answer.rows.length)}</span>
    </p>
    <div class="scroll" tabindex="0" role="group" aria-label="Printed and measured"><table>
      <thead><tr><th scope="col">where</th><th scope="col">printed</th>${wasRun && html`<th scope="col">ours</th><th scope="col">verdict</th><th scope="col">cause</th>`}</tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.where}><th scope="row" class="wrap">${row.where}</th><td class="wrap">${row.printed}</td>
        ${wasRun && html`<td>${ours(row)}</td><td>${row.verdict && html`<span class=${`verdict ${classOf(row.verdict)}`}>${row.verdict}</span>${row.by_tolerance ? html` <span class="note">by tolerance</span>` : ""}`}</td><td class="wrap">${[row.why, row.setting && `setting: ${row.setting}`].filter(Boolean).join("; ")}</td>`}</tr>`)}</tbody>
    </table></div>
  </div>`;
}
