// The part of the time that all figures of a page show: [from, to] in seconds, or everything.
import { signal } from "./html.js";

export const zoom = signal(null);
const FINEST = 1e-5; // of the whole

export function show(start, length, duration) {
  const least = Math.min(Math.max(length, duration * FINEST), duration);
  const low = Math.min(Math.max(start, 0), duration - least);
  zoom.value = least >= duration ? null : [low, low + least];
}

// What keys do in every figure.
export function zoomKeys(duration) {
  const [from, to] = zoom.peek() || [0, duration], length = to - from;
  const nearer = () => show(from + length / 4, length / 2, duration);
  return {
    "+": nearer, "=": nearer, "-": () => show(from - length / 2, length * 2, duration), 0: () => { zoom.value = null; },
    PageUp: () => show(from - length / 4, length, duration), PageDown: () => show(from + length / 4, length, duration),
  };
}

// A handler of keys from what each of them does.
export const onKeys = (keys) => (event) => {
  const does = keys()[event.key];
  if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
  does();
  event.preventDefault();
};
