// The sliders, and the buttons for the result.
import { html } from "../parts/html.js";
import { edit } from "../editor/page.js";
import { Command } from "../parts/copy.js";
import { download } from "../save/download.js";
import { Keep } from "../parts/keep.js";
import { plain } from "../parts/numbers.js";
import { Report } from "../parts/report.js";
import { postText } from "../parts/server.js";
import {
  addVariant, change, changeFlow, chosen, common, fileOf, letter, now, removeVariant, scenarios, variants,
} from "./settings.js";

const STEPS = 1000;
const titleOf = (queue) => (queue.name === "drop_tail" ? "Drop tail" : queue.title.split(/[:(]/)[0].trim());
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const ARROWS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

// The next value: a step of the second significant digit or, on a linear scale, of a fiftieth of the scale.
function nextTo(value, way, { low, high, isLinear }) {
  const unit = isLinear ? (high - low) / 50 : 10 ** (Math.floor(Math.log10(way > 0 ? value : value * (1 - 1e-9))) - 1);
  return clamp(Number(((Math.round(value / unit) + way) * unit).toPrecision(6)), low, high);
}

const neat = (value) => Number(value.toPrecision(value < 10 ? 2 : 3));

// Rejects an invalid number: the browser shows the allowed range, and the field shows its previous number again.
function putBack(field, value) {
  field.reportValidity();
  field.value = value;
}

// A slider, by default along a logarithmic scale, beside a field for the exact number.
function Slider({ label, unit, value, low, high, onChange, isLinear, step, help, other }) {
  const place = isLinear ? (value - low) / (high - low) : Math.log(clamp(value, low, high) / low) / Math.log(high / low);
  const slid = (event) => {
    const share = event.target.value / STEPS;
    onChange(isLinear ? Number((low + share * (high - low)).toFixed(2)) : neat(low * (high / low) ** share));
  };
  const keyed = (event) => {
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    onChange(nextTo(value, way, { low, high, isLinear }));
  };
  const typed = (event) => {
    const number = Number(event.target.value);
    if (event.target.value !== "" && number >= low && number <= high) onChange(number);
    else putBack(event.target, value);
  };
  const id = `s-${label.replaceAll(" ", "-")}`;
  const differs = other !== undefined && other !== value;
  return html`<div class=${`slider${differs ? " differs" : ""}`}>
    <label for=${id} title=${help}>${label}</label>
    <span class="field"><input type="number" aria-label=${`${label}, ${unit}`} value=${value} min=${low} max=${high} step=${step || "any"} onChange=${typed} /> ${unit}</span>
    <input id=${id} type="range" min="0" max=${STEPS} value=${Math.round(STEPS * place)} onInput=${slid} onKeyDown=${keyed} aria-valuetext=${`${plain(value)} ${unit}`} />
    ${differs && html`<span class="other">the other variant: ${plain(other)} ${unit}</span>`}
  </div>`;
}

const told = (flow) => (flow ? `${flow.cca} ×${flow.count} from ${plain(flow.start)} s` : "no such flows");

// `other`: the same entry of the other variant, if there are two variants.
function Flow({ flow, number, known, count, other }) {
  const whole = (key, low, high) => (event) => {
    const value = Number(event.target.value);
    if (event.target.value !== "" && value >= low && value <= high) changeFlow(number, { [key]: value });
    else putBack(event.target, flow[key]);
  };
  const remove = () => change({ flows: now.value.flows.filter((_, n) => n !== number) });
  const differs = other !== undefined && told(other) !== told(flow);
  return html`<div class=${`flow${differs ? " differs" : ""}`} role="group" aria-label=${`Flows ${number + 1}`}>
    <select aria-label="Algorithm" value=${flow.cca} onChange=${(event) => changeFlow(number, { cca: event.target.value })}>
      ${known.algorithms.map((one) => html`<option value=${one.name} title=${one.title} selected=${one.name === flow.cca}>${one.name}</option>`)}
    </select>
    <label>×<input type="number" aria-label="How many" min="1" max="20" step="1" value=${flow.count} onChange=${whole("count", 1, 20)} /></label>
    <label>from<input type="number" aria-label="Start, s" min="0" max="600" step="any" value=${flow.start} onChange=${whole("start", 0, 600)} />s</label>
    ${count > 1 && html`<button type="button" class="quiet" aria-label="Remove these flows" title="Remove" onClick=${remove}>✕</button>`}
  </div>${differs && html`<p class="other">the other variant: ${told(other)}</p>`}`;
}

function Variants() {
  const both = variants.value.length > 1;
  if (!both) {
    return html`<p class="note">Every change immediately starts a new run.</p>
      <p class="variants"><button type="button" onClick=${addVariant}>Compare with a second variant</button></p>`;
  }
  return html`<div class="variants" role="group" aria-label="Variant that the sliders change">
    ${variants.value.map((_, n) => html`<button type="button" aria-pressed=${chosen.value === n} onClick=${() => { chosen.value = n; }}>Variant ${letter(n)}</button>`)}
    <button type="button" class="quiet" onClick=${() => removeVariant(chosen.value)}>Remove ${letter(chosen.value)}</button>
  </div>`;
}

export function Controls({ known, lives }) {
  const settings = now.value, shared = common.value;
  const other = variants.value.length > 1 ? variants.value[1 - chosen.value] : {};
  const share = (values) => { common.value = { ...shared, ...values }; };
  const total = settings.flows.length;
  return html`<form class="controls" aria-label="The experiment" onSubmit=${(event) => event.preventDefault()}>
    <${Variants} />
    <h2>Path</h2>
    <${Slider} label="Rate" unit="Mbit/s" value=${settings.rate / 1e6} low=${1} high=${1000} onChange=${(value) => change({ rate: value * 1e6 })}
      help="Rate of the link that all flows share" other=${other.rate === undefined ? undefined : other.rate / 1e6} />
    <${Slider} label="Round trip" unit="ms" value=${settings.rtt} low=${1} high=${500} onChange=${(rtt) => change({ rtt })}
      help="Round-trip time while no packet is queued" other=${other.rtt} />
    <div class=${`slider whole${other.queue !== undefined && other.queue !== settings.queue ? " differs" : ""}`}>
      <label for="s-queue" title="Queue of the link that all flows share. On a path of several links, a queue discipline helps only at the bottleneck.">Queue</label>
      <select id="s-queue" value=${settings.queue} onChange=${(event) => change({ queue: event.target.value })}>
        ${known.queues.map((one) => html`<option value=${one.name} selected=${one.name === settings.queue}>${titleOf(one)}</option>`)}
      </select>
      ${other.queue !== undefined && other.queue !== settings.queue && html`<span class="other">the other variant: ${titleOf(known.queues.find((one) => one.name === other.queue))}</span>`}
    </div>
    ${settings.queue === "drop_tail" && html`<${Slider} label="Buffer" unit="BDP" value=${settings.buffer} low=${0.05} high=${20} onChange=${(buffer) => change({ buffer })}
      help="Size of the buffer in bandwidth-delay products" other=${other.queue === "drop_tail" ? other.buffer : undefined} />`}
    ${settings.queue !== "drop_tail" && html`<p class="note">The buffer size cannot be set: this queue drops or marks packets long before it is full.</p>`}
    <${Slider} label="Random loss" unit="%" value=${settings.loss} low=${0} high=${5} isLinear onChange=${(loss) => change({ loss })}
      help="Share of packets that the link drops at random, in addition to drops of the queue" other=${other.loss} />
    <label class=${`check${other.ecn !== undefined && other.ecn !== settings.ecn ? " differs" : ""}`}><input type="checkbox" checked=${settings.ecn} onChange=${(event) => change({ ecn: event.target.checked })} /> Flows use ECN</label>
    <h2>Flows</h2>
    ${settings.flows.map((flow, n) => html`<${Flow} key=${n} flow=${flow} number=${n} known=${known} count=${total} other=${other.flows && (other.flows[n] || null)} />`)}
    ${total < 4 && html`<p><button type="button" onClick=${() => change({ flows: [...settings.flows, { cca: "cubic", count: 1, start: 0 }] })}>Add flows</button></p>`}
    <label class="check" title="One direction of a telephone call (G.711, 50 packets per second), in the direction of the data of the flows"><input type="checkbox" checked=${shared.call} onChange=${(event) => share({ call: event.target.checked })} /> A call beside the flows</label>
    <h2>Run</h2>
    <${Slider} label="Duration" unit="s" value=${shared.duration} low=${2} high=${300} onChange=${(duration) => share({ duration })} help="Simulated time; a sixth of it is warm-up" />
    <label class="seed">Seed <input type="number" min="0" max="1000000000" step="1" value=${shared.seed}
      onChange=${(event) => share({ seed: Math.round(clamp(Number(event.target.value) || 0, 0, 1e9)) })} />
      <button type="button" onClick=${() => share({ seed: shared.seed + 1 })}>Another</button></label>
    <label class="check" title="Packets are captured at the sender, behind the link and at the receiver"><input type="checkbox" checked=${shared.packets} onChange=${(event) => share({ packets: event.target.checked })} /> Capture packets</label>
    <${Keep} known=${known} scenarios=${scenarios()} seeds=${[shared.seed]} isSeen=${scenarios().every((scenario, n) => lives[n].hasEnded(scenario, shared.seed))} />
    <${Export} live=${lives[Math.min(chosen.value, variants.value.length - 1)]} />
  </form>`;
}

function Export({ live }) {
  const { begin, problems } = live.state.value;
  const number = Math.min(chosen.value, variants.value.length - 1);
  const report = (question) => postText("/api/report", { scenarios: scenarios(), seed: common.value.seed, question });
  if (!begin || problems.length) return null; // the run on the page has other settings than the sliders
  const of = variants.value.length > 1 ? ` of variant ${letter(number)}` : "";
  return html`<h2>Export</h2>
    <${Report} label="Report" name="what-if.html" make=${report}>
      <button type="button" onClick=${() => download(fileOf(number), begin.toml, "application/toml")}>Scenario${of}</button>
      <button type="button" onClick=${() => edit(begin.toml)}>Edit as a file</button>
    <//>
    <p class="note">The same run${of} in a terminal:</p>
    <${Command} text=${begin.command || `fullpipe run ${fileOf(number)} --seed ${begin.seed}`} label="Command" />`;
}
