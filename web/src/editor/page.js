// A scenario as a form and as TOML, side by side, with errors at their lines, derived facts about the scenario, and its
// run.
import { html, signal, useEffect, useRef, useState } from "../parts/html.js";
import { Command } from "../parts/copy.js";
import { download } from "../save/download.js";
import { Keep } from "../parts/keep.js";
import { Results } from "../parts/result.js";
import { Refused, get, post } from "../parts/server.js";
import { Live } from "../whatif/live.js";
import { Path } from "../whatif/path.js";
import { Theory } from "../whatif/theory.js";

const KEY = "fullpipe-scenario", PAUSE_MS = 150;
const START = "cubic-vs-bbr1";
export const text = signal(sessionStorage.getItem(KEY));
const live = new Live(), unquoted = /^"((?:[^"\\])*)"$/;

export function edit(toml) {
  text.value = toml;
  location.hash = "#/editor";
}

function useChecked() {
  const [checked, setChecked] = useState({ understood: null, problems: [], fields: [], points: 1, of: null });
  useEffect(() => {
    if (text.value === null) return undefined;
    try { sessionStorage.setItem(KEY, text.value); } catch { /* the text is too large for the session storage, so it is not stored */ }
    const stop = new AbortController(), of = text.value;
    const timer = setTimeout(() => {
      post("/api/check", { scenario: of }, stop.signal).then(
        (told) => setChecked({ ...told, of }),
        (error) => { if (!stop.signal.aborted) setChecked((before) => ({ ...before, problems: (error instanceof Refused ? error.problems : ["the server does not answer"]).map((message) => ({ message, line: 0 })) })); },
      );
    }, PAUSE_MS);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [text.value]);
  return checked;
}

function Code({ problems }) {
  const place = useRef(null), made = useRef(null), [isThere, setIsThere] = useState(false);
  useEffect(() => {
    import("/static/editor.js").then(({ create }) => {
      if (!place.current) return; // the user has opened another view meanwhile
      made.current = create(place.current, text.value, (next) => { text.value = next; });
      setIsThere(true);
    });
    return () => made.current?.destroy();
  }, []);
  useEffect(() => { made.current?.write(text.value); }, [text.value]);
  useEffect(() => { made.current?.mark(problems); }, [problems, isThere]);
  return html`<div class="code" ref=${place}></div>`;
}

// Replaces the value in the line of a field by a value of the form.
function put(field, raw) {
  const lines = text.value.split("\n"), line = lines[field.line - 1];
  lines[field.line - 1] = line.slice(0, field.from) + raw + line.slice(field.to);
  text.value = lines.join("\n");
}

function Field({ field, problem }) {
  const words = field.path.split("."), plain = field.is_text && unquoted.exec(field.raw);
  const changed = (event) => put(field, plain ? JSON.stringify(event.target.value) : event.target.value);
  const name = words[words.length - 1], id = `f-${field.path}`;
  return html`<div class=${`value${problem ? " wrong" : ""}`}>
    <label for=${id} title=${field.path}>${name}</label>
    ${field.raw === "true" || field.raw === "false"
      ? html`<input id=${id} type="checkbox" checked=${field.raw === "true"} onChange=${(event) => put(field, String(event.target.checked))} />`
      : html`<input id=${id} type="text" spellcheck=${false} value=${plain ? plain[1] : field.raw} onChange=${changed} aria-invalid=${problem ? "true" : null} />`}
    ${problem ? html`<span class="problem">${problem.message}</span>` : field.meaning && html`<span class="note">${field.meaning}</span>`}
  </div>`;
}

function Form({ checked }) {
  const groups = {};
  for (const field of checked.fields) (groups[field.path.split(".").slice(0, -1).join(".")] ||= []).push(field);
  return html`<form class="form" aria-label="The scenario as a form" onSubmit=${(event) => event.preventDefault()}>
    ${Object.entries(groups).map(([name, fields]) => html`<fieldset key=${name}><legend>${name.replace(/\.(\d+)/g, (_, n) => ` ${Number(n) + 1}`) || "scenario"}</legend>
      ${fields.map((field) => html`<${Field} key=${field.path} field=${field} problem=${checked.problems.find((one) => one.line === field.line)} />`)}</fieldset>`)}
  </form>`;
}

export function Editor({ known }) {
  const checked = useChecked(), [problem, setProblem] = useState("");
  const load = (name) => get(`/api/scenario/${encodeURIComponent(name)}`).then((told) => { text.value = told.toml; setProblem(""); }, () => setProblem("the server does not answer"));
  useEffect(() => { if (text.value === null) load(START); }, []);
  const { understood, problems } = checked, isNow = checked.of === text.value;
  const results = useRef(null), state = live.state.value, isShownBelow = state.begin && state.begin.digest === understood?.digest;
  const isAsked = useRef(false), hasEnded = !state.isRunning && Boolean(state.end || state.problems.length);
  const run = () => {
    isAsked.current = true;
    live.run(understood.toml, understood.seed);
  };
  useEffect(() => { // scrolls to the result, which is below the text
    if (isAsked.current && hasEnded) results.current?.scrollIntoView();
    isAsked.current &&= !hasEnded;
  }, [hasEnded]);
  if (text.value === null) return html`<div class="wide-page"><p class="problem">${problem}</p></div>`;
  return html`<div class="wide-page editor">
    <h1 class="aside">Editor</h1>
    <p class="buttons">
      <label>Begin with <select onChange=${(event) => { if (event.target.value) load(event.target.value); event.target.value = ""; }}>
        <option value="">a scenario of fullpipe …</option>${known.scenarios.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
      <button type="button" disabled=${!understood || !isNow} onClick=${run}>Run${checked.points > 1 ? " the first point" : ""}</button>
      <button type="button" onClick=${() => download("scenario.toml", text.value, "application/toml")}>Save as a file</button>
      ${checked.points > 1 && html`<span class="note">This sweep has ${checked.points} points. fullpipe run in a terminal runs all points.</span>`}
    </p>
    <div class="two">
      <${Form} checked=${checked} />
      <div class="right"><${Code} problems=${problems} />
        <div role="status">${problems.length ? html`<ul class="problems">${problems.map((one) => html`<li class="problem">${one.line ? `Line ${one.line}: ` : ""}${one.message}</li>`)}</ul>`
          : understood && html`<p class="note">${understood.flows.length} flows, ${understood.path.links.length} links${understood.path.is_whole ? "" : " and more"}, ${understood.duration_s} s; ${understood.digest}</p>`}</div>
        ${understood && !isShownBelow && html`<${Path} begin=${understood} waiting=${0} /><${Theory} begin=${understood} />`}
        ${understood && understood.notes.map((line) => html`<p class="note">${line}</p>`)}
      </div>
    </div>
    <div class="last-run" ref=${results}>
    ${(state.begin || state.isRunning || state.problems.length > 0) && html`<${Results} states=${[state]} titles=${[`The last run${state.begin ? `: ${state.begin.name}, seed ${state.begin.seed}` : ""}`]} />
      ${state.begin && html`<${Keep} known=${known} scenarios=${[state.begin.toml]} seeds=${[state.begin.seed]} isSeen=${state.end && !state.isRunning} />`}
      <p class="note">The same run in a terminal, with the saved file:</p><${Command} text=${`fullpipe run scenario.toml --seed ${understood ? understood.seed : 1}`} label="Command" />`}
    </div>
  </div>`;
}
