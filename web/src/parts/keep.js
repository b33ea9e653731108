// Keeps what is seen, one run or two, in the store.
import { html, useState } from "./html.js";
import { Refused, post } from "./server.js";

const NOTHING = { of: "", runs: [], problems: [], isKeeping: false };

// `isSeen`: whether the runs of these scenarios have ended.
export function Keep({ known, scenarios, seed, isSeen }) {
  const [state, setState] = useState(NOTHING);
  const of = JSON.stringify({ scenarios, seed }), isOne = scenarios.length === 1;
  const { runs, problems, isKeeping } = state.of === of ? state : NOTHING; // what was kept before a change is not what is seen now
  const keep = async () => {
    setState({ ...NOTHING, of, isKeeping: true });
    try {
      setState({ ...NOTHING, of, runs: (await post("/api/keep", { scenarios, seed })).runs });
    } catch (error) {
      setState({ ...NOTHING, of, problems: error instanceof Refused ? error.problems : ["the server does not answer"] });
    }
  };
  return html`<p class="buttons"><button type="button" disabled=${!isSeen || isKeeping} onClick=${keep}>${isKeeping ? "Keeping …" : isOne ? "Keep this run" : "Keep both runs"}</button></p>
    <p class="note" role="status">${runs.length > 0 && html`Kept in ${known.store}: ${runs.map((id, n) => html`${n > 0 && ", "}<a href=${`#/run/${id}`}>${isOne ? "the run" : `the run of ${"AB"[n]}`}</a>`)}${
      !isOne && html`, <a href=${`#/compare/${runs.join("/")}`}>side by side</a>`}.`}</p>
    ${problems.map((line) => html`<p class="problem" role="alert">${line}</p>`)}`;
}
