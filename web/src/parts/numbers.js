// Formats numbers with their units.
const said = (value, digits) => value.toLocaleString("en", { maximumSignificantDigits: digits });
const isNone = (value) => value === null || value === undefined || Number.isNaN(value);
const NONE = "–";

const scaled = (value, units, digits) => {
  const [scale, unit] = units.find(([one]) => Math.abs(value) >= one) || units[units.length - 1];
  return `${said(value / scale, digits)} ${unit}`;
};

export const rate = (bps, digits = 3) =>
  isNone(bps) ? NONE : scaled(bps, [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]], digits);
export const time = (s, digits = 3) => (isNone(s) ? NONE : scaled(s, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]], digits));
export const size = (bytes, digits = 3) =>
  isNone(bytes) ? NONE : scaled(bytes, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]], digits);
export const share = (value, digits = 3) => (isNone(value) ? NONE : `${said(100 * value, digits)} %`);
export const count = (value) => (isNone(value) ? NONE : Math.round(value).toLocaleString("en"));
export const plain = (value, digits = 4) => (isNone(value) ? NONE : said(value, digits));
export const score = (value) => (isNone(value) ? NONE : value.toFixed(1));
export const few = (value) => (isNone(value) ? NONE : value < 10 ? said(value, 2) : count(value));
export const change = (from, to) => {
  if (isNone(from) || isNone(to) || !from) return "";
  const by = (100 * (to - from)) / from;
  return `${by > 0 ? "+" : by < 0 ? "−" : "±"}${said(Math.abs(by), 2)} %`;
};
export const sum = (values) => values.reduce((all, one) => all + one, 0);

// The mean of the finite values of a column, from an index on.
export function mean(column, from = 0) {
  let total = 0, found = 0;
  for (let n = from; n < column.length; n += 1) {
    if (!Number.isNaN(column[n])) {
      total += column[n];
      found += 1;
    }
  }
  return found ? total / found : null;
}

export function largest(column) {
  let most = -Infinity;
  for (const value of column) if (value > most) most = value;
  return most;
}

export function percentile(column, share_) {
  const sorted = Float32Array.from(column).filter((value) => !Number.isNaN(value)).sort();
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share_ * sorted.length))] : null;
}

// The mean, the lowest and the highest finite value of each row of several columns; NaN in rows without finite values.
export function range(columns) {
  const rows = columns[0].length, [values, low, high] = [0, 1, 2].map(() => new Float32Array(rows).fill(NaN));
  for (let n = 0; n < rows; n += 1) {
    let total = 0, found = 0;
    for (const column of columns) {
      const value = column[n];
      if (Number.isNaN(value)) continue;
      total += value;
      found += 1;
      if (!(value >= low[n])) low[n] = value;
      if (!(value <= high[n])) high[n] = value;
    }
    if (found) values[n] = total / found;
  }
  return { values, low, high };
}
