// The result of a run or variant: a sentence, the path with the predictions of theory, figures, and a row per flow. If
// two results are side by side, equal parts are at the same height.
import { html, useMemo } from "./html.js";
import { Lanes } from "../packets/lanes.js";
import { mean } from "./numbers.js";
import { zoom } from "./zoom.js";
import { Figures, figuresOf, topsOf, windowOf } from "../whatif/figures.js";
import { Path } from "../whatif/path.js";
import { Flows, Sentence } from "../whatif/said.js";
import { Theory } from "../whatif/theory.js";

function Result({ state, title, of, figures, tops, Offer }) {
  const { begin, columns } = state;
  const waiting = useMemo(() => (columns["backlog_packets/0"] ? mean(columns["backlog_packets/0"], Math.floor(columns.time_s.length / 6)) : 0), [columns]);
  return html`<section class=${`variant${state.isRunning ? " running" : ""}${state.problems.length ? " refused" : ""}`} aria-label=${title || "Result"}>
    <div>${title && html`<h2>${title}</h2>`}<${Sentence} ...${state} Offer=${Offer} /></div>
    <div>${begin && html`<${Path} begin=${begin} waiting=${waiting} /><${Theory} begin=${begin} />`}</div>
    <div>
    ${begin && !figures && !state.isRunning && !state.problems.length && html`<p class="note">The run has no samples over time, because the scenario has record.interval = "off".</p>`}
    ${figures && html`<${Figures} figures=${figures} tops=${tops} begin=${begin} of=${of} />`}
    </div>
    <div>${begin && state.packets && html`<${Lanes} begin=${begin} packets=${state.packets} more=${state.more} />`}
    ${begin && html`<${Flows} begin=${begin} end=${state.end} />`}</div>
  </section>`;
}

// Figures are rebuilt only if the samples have changed, so that a render for any other reason takes no time.
const windows = new WeakMap(), made = new WeakMap();
function windowFor(state) {
  if (!windows.has(state.columns)) windows.set(state.columns, windowOf(state));
  return windows.get(state.columns);
}
function figuresFor(state, over) {
  const before = made.get(state.columns);
  if (before?.over === over) return before.figures;
  const figures = figuresOf(state, over);
  made.set(state.columns, { over, figures });
  return figures;
}

// Both ends of a time span, with as many digits as are needed to distinguish them.
const shown = ([from, to]) => [from, to].map((value) => value.toFixed(Math.min(6, Math.max(1, 2 - Math.floor(Math.log10(to - from))))));

// One result, or two results side by side with the same axes. `Offer`: a component that leads to more seeds, shown
// instead of a command.
export function Results({ states, titles, Offer }) {
  const over = Math.max(...states.map(windowFor)), figures = states.map((state) => figuresFor(state, over)), tops = topsOf(figures);
  return html`<div class=${`beside of-${states.length}`}>
    ${zoom.value && html`<p class="zoomed">Seconds ${shown(zoom.value)[0]} to ${shown(zoom.value)[1]} <button type="button" onClick=${() => { zoom.value = null; }}>Show everything</button></p>`}
    <div class="side-by-side">
      ${states.map((state, n) => html`<${Result} key=${n} state=${state} title=${titles[n]} of=${states.length > 1 ? "AB"[n] : ""} figures=${figures[n]} tops=${tops} Offer=${Offer} />`)}
    </div>
  </div>`;
}
