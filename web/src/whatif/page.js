// The view "What if": the sliders at the left, the live result at the right.
import { html, useEffect, useMemo, useRef } from "../parts/html.js";
import { Results } from "../parts/result.js";
import { Controls } from "./controls.js";
import { Live } from "./live.js";
import { Difference, useSentence } from "./said.js";
import { Seeds, ToSeeds } from "./seeds.js";
import { address, common, fromAddress, letter, scenarioOf, variants } from "./settings.js";

const PAUSE_MS = 40; // delay between a change and its run, because a moving slider reports more changes than can be drawn
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
      if (location.hash === shown) history.replaceState(null, "", address()); // otherwise the user has followed a link
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [variants.value, common.value]);
}

const AtOnce = ({ state, name }) => html`<p>${name && html`<b>${name}:</b> `}${useSentence(state)}</p>`;

export function WhatIf({ known, query }) {
  useMemo(() => fromAddress(query, known), [query]);
  useRuns();
  const states = variants.value.map((_, n) => lives[n].state.value);
  const areTwo = states.length > 1, seeds = html`<${Seeds} key="seeds" known=${known} begins=${states.map((state) => state.begin)} />`; // with two variants, they come first
  const titles = areTwo ? states.map((_, n) => `Variant ${letter(n)}`) : [""];
  return html`<div class="what-if">
    <div class="at-once" aria-hidden="true">${states.map((state, n) => html`<${AtOnce} key=${n} state=${state} name=${titles[n] && letter(n)} />`)}</div>
    <${Controls} known=${known} lives=${lives} />
    <div class="results">
      <h1 class="aside">What if</h1>
      ${areTwo && seeds}
      <${Results} states=${states} titles=${titles} Offer=${ToSeeds} />
      ${areTwo ? html`<${Difference} a=${states[0]} b=${states[1]} />` : seeds}
    </div>
  </div>`;
}
