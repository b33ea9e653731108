// The part of the time that figures show: a signal of [from, to] in seconds, or of null for the whole.
import { signal } from "@preact/signals-core";

export const zoom = signal(null); // of all figures of the page; those of a report have one each
const FINEST = 1e-5; // of the whole

export function show(zoom, low, length, [start, end]) {
  const shown = Math.min(Math.max(length, (end - start) * FINEST), end - start);
  const from = Math.min(Math.max(low, start), end - shown);
  zoom.value = shown >= end - start ? null : [from, from + shown];
}

// What keys do in every figure.
export function zoomKeys(zoom, whole) {
  const [from, to] = zoom.peek() || whole, length = to - from;
  const part = (low, share) => () => show(zoom, from + low * length, share * length, whole);
  const nearer = part(0.25, 0.5);
  return {
    "+": nearer, "=": nearer, "-": part(-0.5, 2), 0: () => { zoom.value = null; },
    PageUp: part(-0.25, 1), PageDown: part(0.25, 1),
  };
}

// A handler of keys from what each of them does.
export const onKeys = (keys) => (event) => {
  const does = keys()[event.key];
  if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
  does();
  event.preventDefault();
};
