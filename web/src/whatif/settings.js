// The settings of the sliders: the state of the page. The settings are in the address of the page, and scenarios are
// made from them.
import { computed, signal } from "../parts/html.js";

export const FIRST = {
  rate: 20e6, rtt: 40, buffer: 1, queue: "drop_tail", loss: 0, ecn: false,
  flows: [{ cca: "cubic", count: 1, start: 0 }, { cca: "bbr3", count: 1, start: 5 }],
};
const COMMON = { duration: 30, seed: 1, packets: false, call: false };
const CALL = { name: "call", workload: "voip", start_jitter: "20 ms" };
const POINTS = ["sender", "bottleneck", "receiver"];

// One or two variants, the variant that the sliders change, and the settings common to both variants.
export const variants = signal([FIRST]);
export const chosen = signal(0);
export const common = signal(COMMON);
export const now = computed(() => variants.value[Math.min(chosen.value, variants.value.length - 1)]);
export const letter = (n) => "AB"[n];

export function change(values) {
  const at = Math.min(chosen.value, variants.value.length - 1);
  variants.value = variants.value.map((one, n) => (n === at ? { ...one, ...values } : one));
}
export function changeFlow(number, values) {
  change({ flows: now.value.flows.map((flow, n) => (n === number ? { ...flow, ...values } : flow)) });
}
export function addVariant() {
  const copy = { ...variants.value[0], queue: variants.value[0].queue === "drop_tail" ? "fq_codel" : "drop_tail" };
  variants.value = [variants.value[0], copy];
  chosen.value = 1;
}
export function removeVariant(number) {
  variants.value = variants.value.filter((_, n) => n !== number);
  chosen.value = 0;
}

const text = (value, unit) => `${Number(value.toPrecision(6))} ${unit}`;

// A name that distinguishes the run from other stored runs. Names may have letters, digits, spaces and . + -
const flowsIn = (flows) => flows.map((flow) => `${flow.count > 1 ? flow.count : ""}${flow.cca}${flow.start ? ` from ${flow.start}s` : ""}`).join(" + ");
export function nameOf(settings, shared) {
  const queue = settings.queue === "drop_tail" ? `${settings.buffer}bdp` : settings.queue;
  const words = ["what-if", `${settings.rate / 1e6}M`, `${settings.rtt}ms`, queue, settings.loss ? `loss ${settings.loss}pct` : "", settings.ecn ? "ecn" : "",
    flowsIn(settings.flows), shared.call ? "+ call" : "", `${shared.duration}s`];
  return words.filter(Boolean).join(" ").slice(0, 100);
}

// The scenario in the form that `fullpipe run` takes.
export function scenarioOf(settings, shared) {
  const queue = settings.queue === "drop_tail"
    ? { kind: "drop_tail", size: text(settings.buffer, "bdp") } : { kind: settings.queue };
  const bottleneck = { rate: text(settings.rate / 1e6, "Mbit/s"), delay: text(settings.rtt / 2, "ms"), queue };
  if (settings.loss > 0) bottleneck.loss = { kind: "bernoulli", probability: Number((settings.loss / 100).toPrecision(6)) };
  return {
    name: nameOf(settings, shared),
    duration: text(shared.duration, "s"),
    warmup: text(Number((shared.duration / 6).toPrecision(2)), "s"),
    topology: { kind: "dumbbell", bottleneck },
    ...(shared.packets ? { record: { packets: POINTS } } : {}),
    ...(settings.ecn ? { tcp: { ecn: true } } : {}),
    flows: [...settings.flows.map((flow) => ({
      cca: flow.cca, ...(flow.count > 1 ? { count: flow.count } : {}),
      ...(flow.start > 0 ? { start: text(flow.start, "s") } : {}), start_jitter: "100 ms",
    })), ...(shared.call ? [CALL] : [])],
  };
}
export const scenarios = () => variants.value.map((one) => scenarioOf(one, common.value));
export const fileOf = (number) => (number ? "what-if-b.toml" : "what-if.toml");

// The settings in the address: short enough to be read, and to be sent to a colleague who also runs the page.
const written = (s) =>
  [s.rate / 1e6, s.rtt, s.buffer, s.queue, s.loss, s.ecn ? 1 : 0,
    s.flows.map((flow) => `${flow.cca}*${flow.count}@${flow.start}`).join("-")].join(",");

export function address() {
  const words = variants.value.map((one, n) => `${"ab"[n]}=${written(one)}`);
  const also = ["packets", "call"].filter((key) => common.value[key]).map((key) => `&${key}=1`).join("");
  return `#/what-if?${words.join("&")}&time=${common.value.duration}&seed=${common.value.seed}${also}`;
}

const within = (value, low, high, otherwise) => {
  const number = Number(value);
  return Number.isFinite(number) && value !== "" ? Math.min(Math.max(number, low), high) : otherwise;
};

function read(words, known) {
  const [rate, rtt, buffer, queue, loss, ecn, flows = ""] = words.split(",");
  const read_ = flows.split("-").slice(0, 4).map((word) => {
    const found = /^([a-z0-9_]+)\*(\d+)@([\d.]+)$/.exec(word);
    return found && known.algorithms.some((one) => one.name === found[1])
      && { cca: found[1], count: within(found[2], 1, 20, 1), start: within(found[3], 0, 600, 0) };
  }).filter(Boolean);
  return {
    rate: 1e6 * within(rate, 1, 1000, 20), rtt: within(rtt, 1, 500, 40), buffer: within(buffer, 0.05, 20, 1),
    queue: known.queues.some((one) => one.name === queue) ? queue : "drop_tail",
    loss: within(loss, 0, 5, 0), ecn: ecn === "1", flows: read_.length ? read_ : FIRST.flows,
  };
}

export function fromAddress(query, known) {
  const asked = new URLSearchParams(query);
  if (!asked.has("a")) return;
  variants.value = ["a", "b"].filter((name) => asked.has(name)).map((name) => read(asked.get(name), known));
  common.value = {
    duration: within(asked.get("time"), 2, 300, 30), seed: Math.round(within(asked.get("seed"), 0, 1e9, 1)),
    packets: asked.get("packets") === "1", call: asked.get("call") === "1",
  };
}
