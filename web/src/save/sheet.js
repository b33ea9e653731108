// A self-contained picture: an <svg> on white with a title, a legend and a drawing. Its text is not converted to
// outlines.
const NAMESPACE = "http://www.w3.org/2000/svg";
const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const SIDE = 1.2, LINE = 1.6, ENTRY = 1.7, SWATCH = 2.4, BETWEEN = 1.4, HEAD = 1.15; // in units of the font size
const LONGEST = 60; // maximum number of letters of a label
export const COLUMN = 336, FORE = "#1b1f24", SOFT = "#57606a"; // 3.5 inches of 96 pixels
export const SMALL = 10, PLAIN = 12; // font sizes: 7.5 points in one column, and 8.4 points across both columns
const PAGE = 672; // 7 inches

// Makes an element of SVG. Attributes without a value are left out.
export function svg(name, attributes = {}, ...inner) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

const measure = document.createElement("canvas").getContext("2d");
export function widthOf(text, size = PLAIN, weight = 400) {
  measure.font = `${weight} ${size}px ${FAMILY}`;
  return measure.measureText(text).width;
}

// Breaks a text into lines that fit a width.
function wrapped(text, width, size, weight) {
  const lines = [];
  for (const word of text.split(/\s+/)) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && widthOf(longer, size, weight) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const swatch = ({ colour, dash }, x, y, long) => svg("line", { x1: x, x2: x + long, y1: y, y2: y, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash?.join(" ") });

function legendOf(entries, width, top, size) {
  const made = [], [side, line, long, between] = [SIDE, ENTRY, SWATCH, BETWEEN].map((one) => one * size);
  let x = side, y = top + line / 2;
  for (const entry of entries) {
    const label = entry.label.length > LONGEST ? `${entry.label.slice(0, LONGEST - 1)}…` : entry.label, wide = long + size / 2 + widthOf(label, size) + between;
    if (x > side && x + wide > width) [x, y] = [side, y + line];
    made.push(swatch(entry, x, y, long), svg("text", { x: x + long + size / 2, y: y + size / 3, "font-size": size, fill: FORE }, label));
    x += wide;
  }
  return { made, height: entries.length ? y + line / 2 - top + size / 3 : 0 };
}

// `legend`: [{label, colour, dash}]; `drawing`: an element of SVG, `width` by `height`; `size`: font size. The sheet is
// at most a page wide.
export function sheet({ title, legend = [], width, height, size = PLAIN }, drawing) {
  const side = SIDE * size, big = HEAD * size, heads = wrapped(title, width - 2 * side, big, 600);
  const titles = heads.map((line, n) => svg("text", { x: side, y: (1.7 + n * LINE) * size, "font-size": big, "font-weight": 600, fill: FORE }, line));
  const below = side + heads.length * LINE * size, entries = legendOf(legend, width, below, size), top = below + entries.height;
  const total = Math.ceil(top + height + 4), scale = Math.min(1, PAGE / width);
  return svg("svg", { xmlns: NAMESPACE, width: scale * width, height: scale * total, viewBox: `0 0 ${width} ${total}`, "font-family": FAMILY },
    svg("title", {}, title), svg("rect", { width, height: total, fill: "#fff" }), ...titles, ...entries.made,
    svg("g", { transform: `translate(0 ${top})` }, drawing));
}
