// Samples at several resolutions, so that a frame draws no more samples than the screen can show. Coarser levels have
// the smallest and the largest value of groups of 4, 16, 64, ... samples.
const MOST = 6000, FACTOR = 4;

// The next coarser level: pairs of the smallest and the largest value of FACTOR pairs or, for the finest level, of
// FACTOR samples.
function coarser(values, arePairs) {
  const groups = Math.ceil((arePairs ? values.length / 2 : values.length) / FACTOR), made = new Float32Array(2 * groups);
  const width = arePairs ? 2 * FACTOR : FACTOR;
  for (let group = 0; group < groups; group += 1) {
    let low = NaN, high = NaN;
    const end = Math.min(values.length, (group + 1) * width);
    for (let n = group * width; n < end; n += 1) {
      const value = values[n];
      if (!(value >= low)) low = Number.isNaN(value) ? low : value;
      if (!(value <= high)) high = Number.isNaN(value) ? high : value;
    }
    made[2 * group] = low;
    made[2 * group + 1] = high;
  }
  return made;
}

// Index of the first element of a sorted column that is not below a value.
function place(times, value) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Replaces NaN by null: uPlot draws a line across NaN, but not across null.
const gaps = (values) => (values.some(Number.isNaN) ? Array.from(values, (value) => (Number.isNaN(value) ? null : value)) : values);

export class Levels {
  constructor(times, columns) {
    this.times = times;
    this.levels = [columns];
    while ((this.levels.length > 1 ? this.levels.at(-1)[0].length / 2 : times.length) > MOST / 2 && columns.length) {
      const arePairs = this.levels.length > 1;
      this.levels.push(this.levels.at(-1).map((values) => coarser(values, arePairs)));
    }
  }

  // The data to draw for a time span, with a small margin on both sides: times and columns of the finest level that has
  // no more samples than MOST.
  between(from, to) {
    const { times, levels } = this;
    const first = Math.max(0, place(times, from) - 1), last = Math.min(times.length, place(times, to) + 1);
    let level = 0, group = 1;
    while (level + 1 < levels.length && (2 * (last - first)) / group > MOST) {
      level += 1;
      group *= FACTOR;
    }
    if (level === 0) return [times.subarray(first, last), ...levels[0].map((values) => gaps(values.subarray(first, last)))];
    const start = Math.floor(first / group), end = Math.ceil(last / group), shown = new Float32Array(2 * (end - start));
    for (let n = start; n < end; n += 1) {
      shown[2 * (n - start)] = times[n * group];
      shown[2 * (n - start) + 1] = times[Math.min(n * group + (group >> 1), times.length - 1)];
    }
    return [shown, ...levels[level].map((values) => gaps(values.subarray(2 * start, 2 * end)))];
  }
}
