// Saves runs to the store: the one or two runs on the page, or the runs of many seeds.
import { html, useEffect, useRef, useState } from "./html.js";
import { Refused, post } from "./server.js";

export const FIRST_SEEDS = Array.from({ length: 20 }, (_, n) => n + 1); // seeds of a comparison over many seeds
const NOTHING = { of: "", runs: [], done: 0, problems: [], isKeeping: false };

// `runs`: the IDs of the saved runs of the first seed, to which the page links. A comparison uses the runs of all
// seeds.
function Kept({ known, runs, count }) {
  const isOne = runs.length === 1;
  const each = runs.map((id, n) => html`${n > 0 && ", "}<a href=${`#/run/${id}`}>${isOne ? "the run" : `the run of ${"AB"[n]}`}</a>`);
  return html`Kept in ${known.store}: ${count > runs.length ? `${count} runs` : each}${
    !isOne && html`, <a href=${`#/compare/${runs.join("/")}`}>side by side</a>`}.`;
}

// `isSeen`: whether the runs of these scenarios have ended. `label` is the text of the button; `onKept` is called when
// all runs are saved.
export function Keep({ known, scenarios, seeds, isSeen, label, onKept }) {
  const [state, setState] = useState(NOTHING);
  const of = JSON.stringify({ scenarios, seeds }), all = scenarios.length * seeds.length;
  const seen = useRef("");
  seen.current = of;
  useEffect(() => () => { seen.current = ""; }, []);
  const { runs, done, problems, isKeeping } = state.of === of ? state : NOTHING; // after a change, the saved runs are not the runs on the page
  const keep = async () => {
    let first = [];
    setState({ ...NOTHING, of, isKeeping: true });
    try {
      for (let n = 0; n < seeds.length && seen.current === of; n += 1) {
        const { runs: kept } = await post("/api/keep", { scenarios, seed: seeds[n] });
        first = n ? first : kept;
        setState({ ...NOTHING, of, isKeeping: true, done: (n + 1) * scenarios.length });
      }
      setState({ ...NOTHING, of, runs: first });
      if (seen.current === of) onKept?.();
    } catch (error) {
      setState({ ...NOTHING, of, problems: error instanceof Refused ? error.problems : ["the server does not answer"] });
    }
  };
  const named = label || (all === 1 ? "Keep this run" : all === 2 ? "Keep both runs" : `Keep all ${all} runs`);
  return html`<p class="buttons"><button type="button" disabled=${!isSeen || isKeeping} onClick=${keep}>${isKeeping ? `Keeping …${all > 2 ? ` ${done} of ${all}` : ""}` : named}</button></p>
    <p class="note" role="status">${runs.length > 0 && html`<${Kept} known=${known} runs=${runs} count=${all} />`}</p>
    ${problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}`;
}
