// A picture that opens alone: an <svg> on white with a title, a legend and a drawing; text stays text.
const NAMESPACE = "http://www.w3.org/2000/svg";
const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const SIDE = 16, LINE = 19, ENTRY = 20, SWATCH = 24, BETWEEN = 18, LONGEST = 60; // letters of a label
export const WIDTH = 720, FORE = "#1b1f24", SOFT = "#57606a";

// An element of SVG; attributes without a value are left out.
export function svg(name, attributes = {}, ...inner) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

const measure = document.createElement("canvas").getContext("2d");
export function widthOf(text, size = 12, weight = 400) {
  measure.font = `${weight} ${size}px ${FAMILY}`;
  return measure.measureText(text).width;
}

// Words in lines that fit.
function wrapped(text, width, size, weight) {
  const lines = [];
  for (const word of text.split(/\s+/)) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && widthOf(longer, size, weight) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const swatch = ({ colour, dash }, x, y) => svg("line", { x1: x, x2: x + SWATCH, y1: y, y2: y, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash?.join(" ") });

function legendOf(entries, width, top) {
  const made = [];
  let x = SIDE, y = top + ENTRY / 2;
  for (const entry of entries) {
    const label = entry.label.length > LONGEST ? `${entry.label.slice(0, LONGEST - 1)}…` : entry.label, wide = SWATCH + 6 + widthOf(label) + BETWEEN;
    if (x > SIDE && x + wide > width) [x, y] = [SIDE, y + ENTRY];
    made.push(swatch(entry, x, y), svg("text", { x: x + SWATCH + 6, y: y + 4, "font-size": 12, fill: FORE }, label));
    x += wide;
  }
  return { made, height: entries.length ? y + ENTRY / 2 - top + 4 : 0 };
}

// `legend`: [{label, colour, dash}]; `drawing`: an element of SVG of a width and a height.
export function sheet({ title, legend = [], width = WIDTH, height }, drawing) {
  const heads = wrapped(title, width - 2 * SIDE, 15, 600);
  const titles = heads.map((line, n) => svg("text", { x: SIDE, y: SIDE + 8 + n * LINE, "font-size": 15, "font-weight": 600, fill: FORE }, line));
  const entries = legendOf(legend, width, SIDE + heads.length * LINE), top = SIDE + heads.length * LINE + entries.height;
  const total = Math.ceil(top + height + 4);
  return svg("svg", { xmlns: NAMESPACE, width, height: total, viewBox: `0 0 ${width} ${total}`, "font-family": FAMILY },
    svg("title", {}, title), svg("rect", { width, height: total, fill: "#fff" }), ...titles, ...entries.made,
    svg("g", { transform: `translate(0 ${top})` }, drawing));
}
