// Ticks of axes.

const LOGARITHMIC = 3; // the value of uPlot for a logarithmic scale
export const along = ({ distr }) => (distr === LOGARITHMIC ? Math.log10 : Number);

// Round numbers between the ends of a scale: about `count` of them.
export function rounded({ min: low, max: high, distr }, count) {
  if (distr === LOGARITHMIC) {
    const decades = Array.from({ length: Math.ceil(Math.log10(high / low)) + 2 }, (_, n) => 10 ** (Math.floor(Math.log10(low)) + n));
    return decades.flatMap((decade) => (decades.length < count ? [1, 2, 5] : [1]).map((part) => Number((part * decade).toPrecision(12)))).filter((tick) => tick >= low && tick <= high);
  }
  const least = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= least * 0.999), first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

// Values in ascending order that are at least `room` apart. The last value is always one of them.
export function apart(values, place, room) {
  const last = values.at(-1), found = [];
  for (const value of values.slice(0, -1)) {
    const isFar = !found.length || place(value) - place(found.at(-1)) >= room;
    if (isFar && place(last) - place(value) >= room) found.push(value);
  }
  return [...found, last];
}
