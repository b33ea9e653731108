// What if: the sliders at the left, what came out at the right, at once.
import { html, useEffect, useMemo, useRef } from "../parts/html.js";
import { Results } from "../parts/result.js";
import { Controls } from "./controls.js";
import { Live } from "./live.js";
import { Difference, sentenceOf } from "./said.js";
import { Seeds, ToSeeds } from "./seeds.js";
import { address, common, fromAddress, letter, scenarioOf, variants } from "./settings.js";

const PAUSE_MS = 40; // between a change and its run: a slider says more than can be drawn
const lives = [new Live(), new Live()];

function useRuns() {
  const before = useRef([]);
  useEffect(() => {
    const shown = location.hash;
    const timer = setTimeout(() => {
      variants.value.forEach((one, n) => {
        const scenario = scenarioOf(one, common.value), key = JSON.stringify([scenario, common.value.seed]);
        if (before.current[n] === key) return;
        before.current[n] = key;
        lives[n].run(scenario, common.value.seed);
      });
      before.current.length = variants.value.length;
      if (location.hash === shown) history.replaceState(null, "", address()); // else a link was followed
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [variants.value, common.value]);
}

export function WhatIf({ known, query }) {
  useMemo(() => fromAddress(query, known), [query]);
  useRuns();
  const states = variants.value.map((_, n) => lives[n].state.value);
  const titles = states.length > 1 ? states.map((_, n) => `Variant ${letter(n)}`) : [""];
  return html`<div class="what-if">
    <div class="at-once" aria-hidden="true">${states.map((state, n) => html`<p>${titles[n] && html`<b>${letter(n)}:</b> `}${state.end ? sentenceOf(state) : "Running …"}</p>`)}</div>
    <${Controls} known=${known} lives=${lives} />
    <div class="results">
      <h1 class="aside">What if</h1>
      <${Results} states=${states} titles=${titles} Offer=${ToSeeds} />
      ${states.length > 1 && html`<${Difference} a=${states[0]} b=${states[1]} />`}
      <${Seeds} known=${known} begins=${states.map((state) => state.begin)} />
    </div>
  </div>`;
}
