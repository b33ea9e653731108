// Rows of numbers as CSV.
const DIGITS = 12, FLOAT32_DIGITS = 7; // numbers of significant digits
const RUNS_IN_SPREADSHEETS = /^[=+\-@\t\r]/;

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const cell = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value !== "string") return String(value);
  return quoted(RUNS_IN_SPREADSHEETS.test(value) ? `'${value}` : value);
};

export const csv = (rows) => `${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;

// Columns as rows, with a first row of names. Numbers of four bytes are written with the digits that four bytes
// resolve.
export function rowsOf(names, columns) {
  const digits = columns.map((values) => (values instanceof Float32Array ? FLOAT32_DIGITS : DIGITS));
  const number = (value, n) => (typeof value === "number" ? Number(value.toPrecision(digits[n])) : value);
  return [names, ...Array.from(columns[0], (_, row) => columns.map((values, n) => number(values[row], n)))];
}
