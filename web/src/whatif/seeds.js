// Runs of many seeds: the mean of every metric for one variant, a verdict for every metric for two variants.
import { html, signal, useEffect, useRef, useState } from "../parts/html.js";
import { Command } from "../parts/copy.js";
import { FIRST_SEEDS, Keep } from "../parts/keep.js";
import { Means } from "../parts/means.js";
import { Refused, events, postText } from "../parts/server.js";
import { TakeAlong, Verdicts } from "../parts/verdicts.js";
import { common, scenarioOf, variants } from "./settings.js";

const SEEDS = FIRST_SEEDS.length;
const NOTHING = { done: 0, problems: [], isRunning: false };
const last = signal({ of: "", result: null }); // the last result, kept while another view is open

// The scenarios without packet capture, which never changes results.
const scenarios = () => variants.value.map((one) => scenarioOf(one, { ...common.value, packets: false }));

// A link beside the sentence about a run, which leads to the button that runs more seeds.
export function ToSeeds({ seed }) {
  const go = () => {
    const there = document.querySelector(".seeds .run") || document.querySelector(".seeds h2"); // if the page has a result, it has no button that starts runs
    there.scrollIntoView({ block: "center" });
    there.focus({ preventScroll: true });
  };
  return html`One run, seed ${seed}. <button type="button" class="plain" onClick=${go}>More seeds</button>`;
}

// `begins`: the `begin` events of the runs of both variants, or of the only variant.
export function Seeds({ known, begins }) {
  const [state, setState] = useState(NOTHING);
  const stop = useRef(null), of = JSON.stringify(scenarios()), isOne = begins.length === 1;
  useEffect(() => {
    setState(NOTHING);
    return () => stop.current?.abort();
  }, [of]);
  const result = last.value.of === of ? last.value.result : null;
  const run = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current, all = scenarios();
    setState({ ...NOTHING, isRunning: true });
    try {
      const [path, body] = isOne ? ["/api/seeds", { scenario: all[0] }] : ["/api/compare", { scenarios: all }];
      for await (const [name, data] of events(path, { ...body, seeds: SEEDS }, signal)) {
        const told = JSON.parse(data);
        if (name === "progress") setState((before) => ({ ...before, done: told.done }));
        else if (name === "end") {
          last.value = { of, result: told };
          setState(NOTHING);
        }
        else setState({ ...NOTHING, problems: told.problems });
      }
    } catch (error) {
      if (!signal.aborted) setState({ ...NOTHING, problems: error instanceof Refused ? error.problems : ["the server does not answer"] });
    }
  };
  const [title, why, label] = isOne ? ["How much do results vary between seeds?", `One run is one sample. ${SEEDS} seeds give means with confidence intervals.`, `Run ${SEEDS} seeds`]
    : ["Is the difference significant?", `One run is one sample. ${SEEDS} runs of each variant, with the same seeds for both variants, show which differences are statistically significant.`, `Run ${SEEDS} seeds of each`];
  return html`<section class="seeds"><h2 tabindex="-1">${title}</h2>
    ${(!result || state.isRunning) && html`<p>${why}${" "}<button type="button" class="run" disabled=${state.isRunning} onClick=${run}>${state.isRunning ? "Running …" : label}</button></p>`}
    ${state.isRunning && html`<progress max=${begins.length * SEEDS} value=${state.done} aria-label="Finished runs"></progress>`}
    ${state.problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}
    ${result && !state.isRunning && html`${isOne ? html`<${OfOne} result=${result} known=${known} begin=${begins[0]} />` : html`<${OfTwo} result=${result} known=${known} begins=${begins} />`}
      <${Keep} known=${known} scenarios=${scenarios()} seeds=${FIRST_SEEDS} isSeen />`}
  </section>`;
}

function OfOne({ result, known, begin }) {
  return html`<${Means} result=${result} known=${known} />
    ${begin?.command && html`<p class="note">The same seeds in a terminal:</p><${Command} text=${begin.command.replace(/--seed \d+/, `--seeds ${SEEDS}`)} label="Command for many seeds" />`}`;
}

function OfTwo({ result, known, begins }) {
  return html`<${Verdicts} result=${result} known=${known} />
    <${TakeAlong} command=${result.command} files=${begins.map((begin, n) => [result.files[n], begin?.toml])}
      report=${(question) => postText("/api/compare/report", { scenarios: scenarios(), seeds: SEEDS, question })} />`;
}
