// Turns an <svg> of the page into a separate picture: styles become attributes, in light colours.
import { inLight } from "../parts/theme.js";
import { sheet, svg } from "./sheet.js";

// Properties with the values that need no attribute.
const LOOK = {
  fill: "", "fill-opacity": "1", stroke: "none", "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linejoin": "miter", "stroke-linecap": "butt",
  opacity: "1", "paint-order": "normal", "font-size": "16px", "font-weight": "400", "text-anchor": "start",
};
const UNSTYLED = ["g", "title"];

// A copy of an element with its computed styles as attributes.
export function copied(one) {
  const made = one.cloneNode(false), style = getComputedStyle(one);
  made.removeAttribute("class");
  for (const [name, least] of UNSTYLED.includes(one.localName) ? [] : Object.entries(LOOK)) {
    const value = style.getPropertyValue(name);
    if (value !== least) made.setAttribute(name, value);
  }
  made.append(...Array.from(one.childNodes, (inner) => (inner.nodeType === Node.ELEMENT_NODE ? copied(inner) : inner.cloneNode())));
  return made;
}

const EDGE = 12; // margin around the drawing

// `legendOf()` is called while colours are light. The picture has the size of the drawn elements within the view.
export const inlined = (drawing, title, legendOf = () => []) => inLight(() => {
  const [x, y, wide, high] = drawing.getAttribute("viewBox").split(" ").map(Number), seen = drawing.getBBox();
  const width = Math.ceil(Math.min(wide, seen.x + seen.width + EDGE - x)), height = Math.ceil(Math.min(high, seen.y + seen.height + EDGE - y));
  const inner = svg("svg", { width, height, viewBox: `${x} ${y} ${width} ${height}` }, ...Array.from(drawing.children, copied));
  return sheet({ title, legend: legendOf(), width, height }, inner);
});
