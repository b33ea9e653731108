// Axes, values and height of the figures of a report.
import { axis } from "../parts/figure.js";
import { plain } from "../parts/numbers.js";

export const HEIGHT = 280;
// The value in a legend; empty while no pointer is over the figure.
export const told = (u, value) => (value === null || value === undefined ? "" : plain(value));
export const axes = (...labels) => labels.map((label, n) => axis({
  label, labelSize: 18, size: n ? 58 : 34, space: n ? 36 : 70, values: (u, ticks) => ticks.map((tick) => plain(tick, 6)),
}));

// The y axis starts at 0, unless all drawn values are far above 0.
const from = (low, high) => (low > 0 && low < 0.6 * high ? 0 : low);
export const upward = (rangeNum) => ({
  range: (u, low, high) => (low === null ? [0, 1] : rangeNum(from(low, high), high, 0.05, true)),
});
