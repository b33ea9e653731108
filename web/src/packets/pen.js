// Draws into elements of SVG, with the methods of a canvas that `drawing.js` uses.
import { svg, widthOf } from "../save/sheet.js";

const rounded = (value) => Number(value.toFixed(1));

class Way {
  d = "";

  moveTo(x, y) { this.d += `M${rounded(x)} ${rounded(y)}`; }

  lineTo(x, y) { this.d += `L${rounded(x)} ${rounded(y)}`; }

  // Draws a full circle, as no other arc is needed.
  arc(x, y, r) { this.d += `M${rounded(x - r)} ${rounded(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }

  rect(x, y, width, height) { this.d += `M${rounded(x)} ${rounded(y)}h${rounded(width)}v${rounded(height)}h${rounded(-width)}Z`; }
}

const ANCHORS = { left: "start", center: "middle" };

export class Pen {
  Way = Way;

  globalAlpha = 1;

  lineWidth = 1;

  made = svg("g");

  #dash = [];

  #way = new Way();

  #rects = null;

  // Consecutive rectangles of one colour become one element.
  #put(name, more, ...inner) {
    this.#rects = null;
    const made = svg(name, { opacity: this.globalAlpha < 1 ? this.globalAlpha : null, ...more }, ...inner);
    this.made.append(made);
    return made;
  }

  setLineDash(dash) { this.#dash = dash; }

  beginPath() { this.#way = new Way(); }

  moveTo(x, y) { this.#way.moveTo(x, y); }

  lineTo(x, y) { this.#way.lineTo(x, y); }

  stroke({ d } = this.#way) {
    if (d) this.#put("path", { d, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.#dash.join(" ") || null });
  }

  fill({ d }) {
    if (d) this.#put("path", { d, fill: this.fillStyle });
  }

  fillRect(...box) {
    const look = `${this.fillStyle} ${this.globalAlpha}`;
    if (this.#rects?.look !== look) {
      const element = this.#put("path", { fill: this.fillStyle });
      this.#rects = { look, element, way: new Way() };
    }
    this.#rects.way.rect(...box);
    this.#rects.element.setAttribute("d", this.#rects.way.d);
  }

  fillText(text, x, y) {
    const weight = this.font.startsWith("600") ? 600 : null;
    this.#put("text", { x: rounded(x), y, fill: this.fillStyle, "font-size": 12, "font-weight": weight, "text-anchor": ANCHORS[this.textAlign] }, text);
  }

  measureText(text) { return { width: widthOf(text, 12, this.font.startsWith("600") ? 600 : 400) }; }
}
