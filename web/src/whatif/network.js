// A drawing of a network with links, cells and the routes of flows. Nodes are in columns, and data go from left to
// right.
import { html } from "../parts/html.js";
import { rate, time } from "../parts/numbers.js";

const COLUMN = 168, ROW = 46, SIDE = 70, TOP = 34, BESIDE = 4, MOST_LABELS = 8;
const short = (text) => (text.length > 16 ? `${text.slice(0, 15)}…` : text);

// The two directions of a wire are drawn as one line, whose label describes the direction from left to right.
function wiresOf({ links, nodes }) {
  const number = Object.fromEntries(nodes.map((node, n) => [node.name, n])), found = new Map();
  for (const link of links) {
    const ends = [number[link.from], number[link.to]], key = [...ends].sort((a, b) => a - b).join();
    const isForward = nodes[ends[0]].x <= nodes[ends[1]].x;
    if (!found.has(key)) found.set(key, { ends, all: [] });
    const wire = found.get(key);
    if (isForward) { wire.ends = ends; wire.all.unshift(link); } else wire.all.push(link);
  }
  return [...found.values()];
}

// The rate of a link and, if the rate varies, the time for which this rate is valid.
export const rated = (link) => (link.rate_bps ? `${rate(link.rate_bps)}${link.holds ? ` ${link.holds}` : ""}` : "no rate");
const told = (link) => `${link.name}: ${rated(link)}, ${time(link.delay_s)}${link.queue ? `, queue ${link.queue}` : ""}${link.changes ? ", changes over time" : ""}`;

export function Network({ begin }) {
  const { path, expected } = begin, { nodes, cells, routes } = path;
  const low = Math.min(...nodes.map((node) => node.y)), high = Math.max(...nodes.map((node) => node.y));
  const columns = Math.max(...nodes.map((node) => node.x)), first = Math.min(...nodes.map((node) => node.x));
  const width = 2 * SIDE + (columns - first) * COLUMN, height = 2 * TOP + (high - low) * ROW + 14;
  const x = (n) => SIDE + (nodes[n].x - first) * COLUMN, y = (n) => TOP + (nodes[n].y - low) * ROW;
  const number = Object.fromEntries(nodes.map((node, n) => [node.name, n]));
  const wires = wiresOf(path), narrow = new Set(expected.map((one) => one.link));
  // Routes between the same two nodes are drawn side by side.
  const keyOf = (a, b) => [a, b].sort((one, other) => one - other).join(), shared = {};
  routes.forEach(({ nodes: way }, n) => way.slice(1).forEach((node, step) => (shared[keyOf(way[step], node)] ||= []).push(n)));
  const many = (a, b) => shared[keyOf(a, b)]?.length || 0;
  const route = ({ nodes: way }, n) => way.slice(1).map((node, step) => {
    const flows = shared[keyOf(way[step], node)], by = (flows.indexOf(n) - (flows.length - 1) / 2) * BESIDE;
    return `${step ? "L" : "M"}${x(way[step])} ${y(way[step]) + by}L${x(node)} ${y(node) + by}`;
  }).join("");
  // The label of a wire is above its middle, where no node has its name.
  const middle = (a, b) => {
    const [left, right] = x(a) <= x(b) ? [a, b] : [b, a], part = 0.5;
    return [x(left) + part * (x(right) - x(left)), y(left) + part * (y(right) - y(left)) - Math.max(7, (many(a, b) * BESIDE) / 2 + 4)];
  };
  const words = `${nodes.length} nodes, ${wires.length} links${cells.length ? `, ${cells.length} cells` : ""} and the routes of ${begin.flows.length} flows. `
    + [...path.links.filter((link) => narrow.has(link.name)).map(told), ...cells.map((cell) => `cell ${cell.name}, ${cell.kind}`)].join("; ");
  return html`<div class="scroll network" tabindex="0" role="group" aria-label="The path">
    <svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${words}>
    ${wires.map(({ ends: [a, b], all }) => html`<path d=${`M${x(a)} ${y(a)}L${x(b)} ${y(b)}`} class="wire"><title>${all.map(told).join("\n")}</title></path>`)}
    ${cells.map((cell) => cell.edges.map(([a, b]) => html`<path d=${`M${x(number[a])} ${y(number[a])}L${x(number[b])} ${y(number[b])}`} class="air">
      <title>${[`cell ${cell.name} (${cell.kind})`, ...cell.ports.filter((port) => port.node === a || port.node === b).map((port) => `${port.name}: ${port.queue || "no queue"}`)].join("\n")}</title></path>`))}
    ${routes.map((way, n) => {
      const { colour, dash, label } = begin.lines[way.line];
      return html`<g class=${`c${colour}`}><path d=${route(way, n)} class=${`line route d${dash}`}><title>${label}</title></path></g>`;
    })}
    ${nodes.map((node, n) => html`<g><circle cx=${x(n)} cy=${y(n)} r=${node.kind === "host" ? 6 : 8} class=${node.kind} />
      <text x=${x(n)} y=${y(n) + 22} class="middle">${short(node.name)}</text></g>`)}
    ${wires.filter(({ all }) => wires.length <= MOST_LABELS || all.some((link) => narrow.has(link.name))).map(({ ends, all }) => {
      const [left, top] = middle(...ends), isNarrow = all.some((link) => narrow.has(link.name));
      return html`<text x=${left} y=${top} class=${`middle${isNarrow ? " strong" : ""}`}>${all[0].rate_bps ? rated(all[0]) : time(all[0].delay_s)}</text>`;
    })}
    ${cells.map((cell) => cell.edges.slice(0, 1).map(([a, b]) => {
      const [left, top] = middle(number[a], number[b]);
      return html`<text x=${left} y=${top} class="middle strong">${short(cell.name)} (${cell.kind})</text>`;
    }))}
  </svg></div>`;
}
