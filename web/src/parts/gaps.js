// Gaps of lines over time. A flow that is measured less often than samples are taken, such as a ping, has missing
// samples between its values. These missing samples are not gaps.
const LONGER = 1.5; // factor: two values further apart than this many usual distances have a gap between them

export const isThere = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// The indices of values, divided into parts at the gaps. A line joins the values of a part.
export function partsOf(times, values) {
  const known = Array.from(values.keys()).filter((n) => isThere(values[n])), parts = [];
  const apart = known.slice(1).map((n, at) => times[n] - times[known[at]]).sort((a, b) => a - b), most = LONGER * (apart[apart.length >> 1] ?? 0);
  known.forEach((n, at) => {
    if (at && (n === known[at - 1] + 1 || times[n] - times[known[at - 1]] <= most)) parts[parts.length - 1].push(n);
    else parts.push([n]);
  });
  return parts;
}

const found = new WeakMap(); // the parts of each array of values; each visible time span has its own arrays

// `Levels` returns a typed array for a line without missing values.
function seen(u, place) {
  const values = u.data[place];
  if (ArrayBuffer.isView(values)) return [];
  if (!found.has(values)) found.set(values, partsOf(u.data[0], values));
  return found.get(values);
}

// Options of a line for uPlot: its gaps, in pixels, are between the parts, and a part with a single value is drawn as a
// point.
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
