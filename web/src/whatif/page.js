// What if: the sliders at the left, what came out at the right, at once.
import { html, signal, useEffect, useMemo, useRef } from "../parts/html.js";
import { zoom } from "../parts/chart.js";
import { mean } from "../parts/numbers.js";
import { Controls } from "./controls.js";
import { Figures, figuresOf, topsOf } from "./figures.js";
import { Live } from "./live.js";
import { Path } from "./path.js";
import { Difference, Flows, Sentence, Theory } from "./said.js";
import { Seeds } from "./seeds.js";
import { address, common, fromAddress, letter, nameOf, scenarioOf, variants } from "./settings.js";

const PAUSE_MS = 40; // between a change and its run: a slider says more than can be drawn
const lives = [new Live(), new Live()];

function useRuns() {
  const before = useRef([]);
  useEffect(() => {
    const timer = setTimeout(() => {
      variants.value.forEach((one, n) => {
        const scenario = scenarioOf(one, common.value, nameOf(n)), key = JSON.stringify([scenario, common.value.seed]);
        if (before.current[n] === key) return;
        before.current[n] = key;
        lives[n].run(scenario, common.value.seed);
      });
      before.current.length = variants.value.length;
      history.replaceState(null, "", address());
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [variants.value, common.value]);
}

function Variant({ number, state, figures, tops }) {
  const { begin, columns } = state;
  const waiting = useMemo(() => (columns["backlog_packets/0"] ? mean(columns["backlog_packets/0"], Math.floor(columns.time_s.length / 6)) : 0), [columns]);
  return html`<section class=${`variant${state.isRunning ? " running" : ""}`} aria-label=${variants.value.length > 1 ? `Variant ${letter(number)}` : "What came out"}>
    ${variants.value.length > 1 && html`<h2>Variant ${letter(number)}</h2>`}
    <${Sentence} ...${state} />
    ${begin && html`<${Path} begin=${begin} waiting=${waiting} /><${Theory} begin=${begin} />`}
    ${figures && html`<${Figures} figures=${figures} tops=${tops} begin=${begin} />`}
    ${begin && html`<${Flows} begin=${begin} end=${state.end} />`}
  </section>`;
}

export function WhatIf({ known, query }) {
  useMemo(() => fromAddress(query, known), [query]);
  useRuns();
  const states = variants.value.map((_, n) => lives[n].state.value);
  const figures = states.map((state) => useFigures(state));
  const tops = topsOf(figures);
  return html`<div class="what-if">
    <${Controls} known=${known} lives=${lives} />
    <div class=${`results of-${variants.value.length}`}>
      <h1 class="aside">What if</h1>
      ${zoom.value && html`<p class="zoomed">Seconds ${zoom.value[0].toFixed(1)} to ${zoom.value[1].toFixed(1)} <button type="button" onClick=${() => { zoom.value = null; }}>Show everything</button></p>`}
      <div class="side-by-side">
        ${states.map((state, n) => html`<${Variant} key=${n} number=${n} state=${state} figures=${figures[n]} tops=${tops} />`)}
      </div>
      ${states.length > 1 && html`<${Difference} a=${states[0]} b=${states[1]} /><${Seeds} />`}
    </div>
  </div>`;
}

// Made anew only if the samples are: a render for another reason costs nothing.
const made = new WeakMap();
function useFigures(state) {
  if (!made.has(state.columns)) made.set(state.columns, figuresOf(state));
  return made.get(state.columns);
}
