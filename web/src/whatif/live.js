// Runs the scenario of the sliders and holds its result. Each variant has one instance.
import { signal } from "../parts/html.js";
import { Packets } from "../packets/packets.js";
import { Refused, bytesOf, columnsOf, events, joined } from "../parts/server.js";

export const NOTHING = { begin: null, columns: {}, end: null, problems: [], isRunning: false, packets: null };

const askedOf = (scenario, seed) => JSON.stringify([scenario, seed]);

export class Live {
  constructor() {
    this.state = signal(NOTHING);
    this.stop = null;
    this.asked = "";
  }

  // Whether the page shows the complete run of this scenario and seed. After a change it still shows the previous run.
  hasEnded(scenario, seed) {
    const { end, isRunning } = this.state.value;
    return Boolean(end) && !isRunning && this.asked === askedOf(scenario, seed);
  }

  // Starts a run, which replaces the previous run. The figures of the previous run stay until the new run has samples.
  async run(scenario, seed) {
    this.stop?.abort();
    const stop = new AbortController();
    this.stop = stop;
    this.asked = askedOf(scenario, seed);
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
          if (begin.lanes.length) packets = this.state.value.packets; // until packets of the new run arrive
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
