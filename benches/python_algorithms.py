"""Cost of an algorithm written in Python: Reno on the first study, compared with the native one.

CPU seconds are those of the simulation alone, the minimum of several runs, all in one invocation. Only ratios
are comparable between machines. Results must be byte-identical, because both do the same arithmetic.
"""

from __future__ import annotations

import argparse

import fullpipe
from fullpipe.algorithms import Ack, Controller, Episode, Path

LIMIT = 20.0
BUFFER = "topology.bottleneck.queue.packets"


class Reno(Controller):
    """One call per episode; the law grows the window."""

    slow_start = 1.0
    increase = 1.0

    def on_congestion(self, episode: Episode, path: Path) -> None:
        if episode.first:
            self.ssthresh = self.cwnd // 2


class RenoPerRound(Reno):
    """Reno with a call per round trip, besides those per episode."""

    rtt_s: float | None = None

    def on_ack(self, ack: Ack, path: Path) -> None:
        self.rtt_s = ack.rtt_mean_s


class RenoPerAck(Controller):
    """A call per ACK, and all the arithmetic in Python."""

    per_ack = True
    credit = 0

    def on_ack(self, ack: Ack, path: Path) -> None:
        if not (ack.may_grow and path.cwnd_limited):
            return
        acked, cwnd = ack.acked, int(self.cwnd)
        if cwnd < self.ssthresh:
            grown = int(min(cwnd + acked, self.ssthresh))
            acked, cwnd = acked - (grown - cwnd), grown
        if acked:
            if self.credit >= cwnd:
                self.credit, cwnd = 0, cwnd + 1
            self.credit += acked
            if self.credit >= cwnd:
                cwnd, self.credit = cwnd + self.credit // cwnd, self.credit % cwnd
        self.cwnd = cwnd

    def on_congestion(self, episode: Episode, path: Path) -> None:
        self.credit = 0
        if episode.first:
            self.ssthresh = max(self.cwnd // 2, 2)


def main() -> None:
    """Print CPU seconds and ratios; fail if one is above the limit or a result differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--packets", type=int, default=5000, help="size of the bottleneck's queue")
    options = parser.parse_args()
    base = fullpipe.Scenario.named("kato2025").with_values(
        {BUFFER: options.packets, "record.interval": "off", "flows.0.name": "reno"}
    )
    native_s, native = 0.0, None
    print("algorithm        CPU s  of native")
    for algorithm in ("reno", Reno, RenoPerRound, RenoPerAck):
        scenario = base.with_values({"flows.0.cca": algorithm})
        runs = [fullpipe.run(scenario) for _ in range(options.repeats)]
        cpu_s = min(run.meta.cpu_s for run in runs)
        flows = runs[0].flows.drop("cca")
        if native is None:
            native_s, native = cpu_s, flows
        name = algorithm if isinstance(algorithm, str) else algorithm.__name__
        print(f"{name:<14} {cpu_s:>7.2f} {cpu_s / native_s:>10.2f}", flush=True)
        if not flows.equals(native):
            raise SystemExit(f"{name}: other results than the native one")
        if cpu_s > LIMIT * native_s:
            raise SystemExit(f"{name}: more than {LIMIT:g} times native")


if __name__ == "__main__":
    main()
