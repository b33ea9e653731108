// Is the difference real? Both variants with many seeds, and a verdict for every metric.
import { html, signal, useEffect, useRef, useState } from "../parts/html.js";
import { Keep } from "../parts/keep.js";
import { Refused, events, postText } from "../parts/server.js";
import { TakeAlong, Verdicts } from "../parts/verdicts.js";
import { common, scenarioOf, variants } from "./settings.js";

const SEEDS = 20;
const FIRST_SEEDS = Array.from({ length: SEEDS }, (_, n) => n + 1);
const NOTHING = { done: 0, problems: [], isRunning: false };
const last = signal({ of: "", result: null }); // stays while another part of the page is seen

// Without capture, which changes no result.
const scenarios = () => variants.value.map((one) => scenarioOf(one, { ...common.value, packets: false }));

// `tomls`: both scenarios as files.
export function Seeds({ known, tomls }) {
  const [state, setState] = useState(NOTHING);
  const stop = useRef(null), of = JSON.stringify(scenarios());
  useEffect(() => {
    setState(NOTHING);
    return () => stop.current?.abort();
  }, [of]);
  const result = last.value.of === of ? last.value.result : null;
  const run = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setState({ ...NOTHING, isRunning: true });
    try {
      for await (const [name, data] of events("/api/compare", { scenarios: scenarios(), seeds: SEEDS }, signal)) {
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
  return html`<section class="seeds"><h2>Is the difference real?</h2>
    <p>One run is one throw. ${SEEDS} runs of each variant, with the same seeds for both, say how far chance goes.
      ${" "}<button type="button" disabled=${state.isRunning} onClick=${run}>${state.isRunning ? "Running …" : `Run ${SEEDS} seeds of each`}</button></p>
    ${state.isRunning && html`<progress max=${2 * SEEDS} value=${state.done} aria-label="Runs that are done"></progress>`}
    ${state.problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}
    ${result && !state.isRunning && html`<${Verdicts} result=${result} known=${known} />
      <${TakeAlong} command=${result.command} files=${tomls.map((toml, n) => [result.files[n], toml])}
        report=${(question) => postText("/api/compare/report", { scenarios: scenarios(), seeds: SEEDS, question })} />
      <${Keep} known=${known} scenarios=${scenarios()} seeds=${FIRST_SEEDS} isSeen />`}
  </section>`;
}
