// The time span that figures show: a signal of [from, to] in seconds, or of null for the whole time.
import { signal } from "@preact/signals-core";

export const zoom = signal(null); // shared by all figures of the page; each figure of a report has its own signal
const FINEST = 1e-5; // smallest span, as a share of the whole time

export function show(zoom, low, length, [start, end]) {
  const shown = Math.min(Math.max(length, (end - start) * FINEST), end - start);
  const from = Math.min(Math.max(low, start), end - shown);
  zoom.value = shown >= end - start ? null : [from, from + shown];
}

// The keys that zoom and move a figure over time, with their actions.
export function zoomKeys(zoom, whole) {
  const [from, to] = zoom.peek() || whole, length = to - from;
  const part = (low, share) => () => show(zoom, from + low * length, share * length, whole);
  const nearer = part(0.25, 0.5);
  return {
    "+": nearer, "=": nearer, "-": part(-0.5, 2), 0: () => { zoom.value = null; },
    PageUp: part(-0.25, 1), PageDown: part(0.25, 1),
  };
}

// A handler of key events, made from the action of each key.
export const onKeys = (keys) => (event) => {
  const does = keys()[event.key];
  if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
  does();
  event.preventDefault();
};
