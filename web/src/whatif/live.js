// Runs what the sliders say, and keeps what came of it: one of these per variant.
import { signal } from "../parts/html.js";
import { Packets } from "../packets/packets.js";
import { Refused, bytesOf, columnsOf, events, joined } from "../parts/server.js";

export const NOTHING = { begin: null, columns: {}, end: null, problems: [], isRunning: false, packets: null };

export class Live {
  constructor() {
    this.state = signal(NOTHING);
    this.stop = null;
  }

  // A new run takes the place of the one before, whose picture stays until there is something to draw.
  async run(scenario, seed) {
    this.stop?.abort();
    const stop = new AbortController();
    this.stop = stop;
    const parts = [];
    let begin = null, isWaiting = false, packets = null;
    const show = (more) => {
      if (stop.signal.aborted) return;
      this.state.value = { begin, columns: joined(parts), end: null, problems: [], isRunning: true, packets, ...more };
    };
    this.state.value = { ...this.state.value, isRunning: true };
    try {
      for await (const [name, data] of events("/api/live", { scenario, seed }, stop.signal)) {
        if (name === "begin") {
          begin = JSON.parse(data);
          if (begin.lanes.length) packets = this.state.value.packets; // until there are others
        } else if (name === "samples") {
          parts.push(columnsOf(bytesOf(data)));
          if (!isWaiting) {
            isWaiting = true;
            requestAnimationFrame(() => { isWaiting = false; if (this.state.value.end === null || this.state.value.begin !== begin) show({}); });
          }
        } else if (name === "packets") {
          packets = new Packets(columnsOf(bytesOf(data)));
        } else if (name === "end") {
          show({ end: JSON.parse(data), isRunning: false });
        } else {
          show({ problems: JSON.parse(data).problems, isRunning: false, packets: null });
        }
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      const problems = error instanceof Refused ? error.problems : ["the server does not answer"];
      this.state.value = { ...this.state.value, problems, isRunning: false };
    }
  }
}
