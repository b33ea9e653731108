// Gaps of lines over time: a flow that is measured less often than samples are taken, such as a ping, has none between its values.
const LONGER = 1.5; // than the usual distance of two values: a gap

export const isThere = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// The places of values in parts that a line joins.
export function partsOf(times, values) {
  const known = Array.from(values.keys()).filter((n) => isThere(values[n])), parts = [];
  const apart = known.slice(1).map((n, at) => times[n] - times[known[at]]).sort((a, b) => a - b), most = LONGER * (apart[apart.length >> 1] ?? 0);
  known.forEach((n, at) => {
    if (at && (n === known[at - 1] + 1 || times[n] - times[known[at - 1]] <= most)) parts[parts.length - 1].push(n);
    else parts.push([n]);
  });
  return parts;
}

const found = new WeakMap(); // parts by values: another part of the time has arrays of its own

// `Levels` gives a typed array of a line without missing values.
function seen(u, place) {
  const values = u.data[place];
  if (ArrayBuffer.isView(values)) return [];
  if (!found.has(values)) found.set(values, partsOf(u.data[0], values));
  return found.get(values);
}

// What uPlot is told of a line: its gaps in pixels are those between parts, and a value alone is a point.
export const PARTED = {
  gaps: (u, place) => {
    const parts = seen(u, place), x = (n) => u.valToPos(u.data[0][n], "x", true);
    return parts.slice(1).map((part, at) => [x(parts[at].at(-1)), x(part[0])]);
  },
  points: {
    show: false, size: 3,
    filter: (u, place) => {
      const alone = seen(u, place).filter((part) => part.length === 1).flat();
      return alone.length ? alone : null;
    },
  },
};
