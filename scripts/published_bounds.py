"""Completion times that others have published for tests of congestion control, and ours for the same tests.

    python -m scripts.published_bounds --write           # the tables of explanation/published-bounds.md
    python -m scripts.published_bounds --scenarios DIR   # every test as a scenario file

A test is a transfer of fixed size over one bottleneck. Its time runs from the start of the simulation to the
end of the transfer named main. Both directions have the same queue and changes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import fullpipe
from fullpipe.scenario import Scenario
from scripts.markdown_table import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "published-bounds.md"
SEEDS = range(1, 21)
MAIN = "main"
START_JITTER = "10 ms"
LONG = "120 s"
HEADERS = 1.04
"""Factor of our times against those of the draft, because our packets have larger headers. 1,448 B of payload
are 1,514 B on the wire (4.6 % more). In the draft, 4 MB over 1.5 Mbit/s take 21.51 s, 0.8 % more than the
payload alone."""
PROBES = "[waits between probes](#low-and-up)"
HOLE = "[a hole that waits for the timer](#black-hole)"
JITTER = "[jitter as a sign of a queue](#bad-wi-fi-with-cubic)"
WINDOW = "[window of twice the smallest RTT](#bad-wi-fi-with-bbrv3)"
PROBE_RTT = "[PROBE_RTT](#probe_rtt)"
YIELDS = "[their BBR yields](#cubic-beside-bbr)"
CAUSES = {
    ("bbr_low_and_up", "bbr3"): PROBES,
    ("low_and_up", "bbr3"): PROBES,
    ("cc_ns_blackhole", "cubic"): HOLE,
    **{(name, "cubic"): JITTER for name in ("cubic_wifi_bad", "cc_ns_wifi_bad_cubic", "wifi_bad")},
    **{(name, "bbr3"): WINDOW for name in ("bbr_wifi_bad", "cc_ns_wifi_bad_bbr", "wifi_bad")},
    **{(name, "bbr3"): WINDOW for name in ("wifi_bad_cubic", "wifi_bad_bbr")},
    **{(name, "bbr3"): PROBE_RTT for name in ("alone_1_5M", "vs_bbr_lg", "vs_cubic_lg2")},
    **{(name, "cubic"): YIELDS for name in ("vs_bbr", "vs_bbr_lg")},
}
"""Causes of times beyond the published times, as links to sections of the page."""
Changes = Sequence[Mapping[str, Any]]


def suspended(rate: str, last_s: float) -> Changes:
    """Outages of 200 ms at the end of every 2 s."""
    begins = [round(1.8 + 2 * n, 1) for n in range(int(last_s / 2))]
    steps = [pair for at in begins for pair in ((at, "0 bit/s"), (round(at + 0.2, 1), rate))]
    return [{"at": f"{at:g} s", "rate": to} for at, to in steps]


@dataclass(frozen=True)
class Wire:
    """A bottleneck: rate in Mbit/s, one-way delay and queue in ms, and changes of the link."""

    rate: float
    delay: float
    queue: float
    changes: Changes = ()
    up: float | None = None
    """Rate of the other direction, if it differs."""
    jitter: float | None = None
    """Target of Wi-Fi jitter in both directions, in ms."""

    def link(self, rate: float) -> dict[str, Any]:
        """A direction as a link of a scenario."""
        made: dict[str, Any] = {
            "rate": f"{rate:g} Mbit/s",
            "delay": f"{self.delay:g} ms",
            "queue": {"kind": "drop_tail", "size": f"{self.queue:g} ms"},
        }
        if self.changes:
            made["changes"] = [dict(change) for change in self.changes]
        return made if self.jitter is None else made | {"wifi_jitter": f"{self.jitter:g} ms"}


def low_and_up(delay: float) -> Wire:
    """5 Mbit/s, and 10 Mbit/s from 2.5 s on."""
    return Wire(5, delay, 80, [{"at": "2.5 s", "rate": "10 Mbit/s"}])


def drop_and_back(delay: float) -> Wire:
    """10 Mbit/s, but 5 Mbit/s from 1.5 s to 3.5 s."""
    return Wire(10, delay, 80, [{"at": "1.5 s", "rate": "5 Mbit/s"}, {"at": "3.5 s", "rate": "10 Mbit/s"}])


def black_hole(rate: float, delay: float) -> Wire:
    """An outage from 2 s to 4 s."""
    return Wire(
        rate, delay, 80, [{"at": "2 s", "rate": "0 bit/s"}, {"at": "4 s", "rate": f"{rate:g} Mbit/s"}]
    )


@dataclass(frozen=True)
class Case:
    """A transfer of `size` MB, perhaps beside another transfer."""

    name: str
    cca: str
    size: float
    path: Wire
    published: tuple[float, ...]
    """The bound in s, or the mean and the 90th percentile of the published times."""
    beside: tuple[str, float] | None = None
    """Algorithm and size in MB of the background transfer."""
    main_start: float = 0.0
    beside_start: float = 0.0

    def scenario(self) -> Scenario:
        """The test as a scenario."""
        up = self.path.rate if self.path.up is None else self.path.up
        flows = [self._flow(MAIN, self.cca, self.size, self.main_start)]
        flows += [self._flow("background", *self.beside, self.beside_start)] if self.beside else []
        topology = {
            "kind": "dumbbell",
            "bottleneck": self.path.link(self.path.rate),
            "reverse": self.path.link(up),
        }
        name = f"{self.name}-{self.cca}".replace("_", "-")
        return Scenario(name=name, duration=LONG, warmup="0 s", topology=topology, flows=flows)

    @staticmethod
    def _flow(name: str, cca: str, size: float, start: float) -> dict[str, Any]:
        flow = {"name": name, "cca": cca, "size": f"{size:g} MB", "start_jitter": START_JITTER}
        return flow | ({"start": f"{start:g} s"} if start else {})

    def times_s(self) -> list[float]:
        """The time of every seed from 0 s to the end of the main transfer."""
        scenario = self.scenario().with_values({"record.interval": "off"})
        return [self._time_s(fullpipe.run(scenario, seed=seed)) for seed in SEEDS]

    @staticmethod
    def _time_s(run: fullpipe.Run) -> float:
        [row] = run.flows.filter(flow=MAIN).to_dicts()
        return float(row["start_s"] + row["fct_s"])

    def row(self) -> list[str]:
        """The test's row of a table: name, algorithm, published time, our times, verdict and cause."""
        times, (first, *p90) = self.times_s(), self.published
        mean = fmean(times)
        if p90:
            published = f"{first:.2f} ({p90[0]:.2f})"
            good, bad = "as fast", f"slower by {100 * (mean / first - 1):.0f} %"
            is_good = mean <= HEADERS * p90[0]
        else:
            published = f"{first:.1f}"
            late = sum(time > first for time in times)
            good, bad, is_good = "within", f"beyond in {late} of {len(times)}", not late
        cause = CAUSES.get((self.name, self.cca), "")
        if is_good == bool(cause):
            raise ValueError(
                f"{self.name}, {self.cca}: {good if is_good else bad}, but the cause is {cause!r}"
            )
        ours = f"{mean:.2f} ({min(times):.2f} to {max(times):.2f})"
        return [self.name, self.cca, published, ours, good if is_good else f"{bad}: {cause}"]


WIDE = Wire(20, 40, 80)
BOUNDS = (
    Case("cubic_alone", "cubic", 10, WIDE, (10.0,)),
    Case("bbr_alone", "bbr3", 10, Wire(20, 40, 30), (10.0,)),
    Case("cubic_vs_cubic", "cubic", 5, WIDE, (10.0,), ("cubic", 10)),
    Case("bbr_vs_cubic", "bbr3", 5, WIDE, (10.0,), ("cubic", 10)),
    Case("bbr1_vs_cubic", "bbr1", 5, WIDE, (10.0,), ("cubic", 10)),
    Case("bbr1_vs_cubic_v2", "bbr1", 5, WIDE, (10.0,), ("cubic", 4)),
    Case("cubic_low_and_up", "cubic", 7, low_and_up(50), (8.2,)),
    Case("bbr_low_and_up", "bbr3", 7, low_and_up(50), (7.6,)),
    Case("cubic_wifi_bad", "cubic", 4, Wire(10, 1, 80, jitter=7), (4.5,)),
    Case("bbr_wifi_bad", "bbr3", 4, Wire(10, 1, 80, jitter=7), (6.4,)),
    Case("bbr_wifi_suspension", "bbr3", 10, Wire(20, 5, 20, suspended("20 Mbit/s", 100)), (10.0,)),
    Case("cc_compete_cubic2", "cubic", 4, Wire(10, 10, 40), (8.5,), ("cubic", 10)),
    Case("cc_ns_asym", "cubic", 4, Wire(10, 300, 600, up=1), (7.5,)),
    Case("cc_ns_blackhole", "cubic", 4, black_hole(10, 40), (6.0,)),
    Case("cc_ns_drop_and_back", "cubic", 4, drop_and_back(40), (5.0,)),
    Case("cc_ns_low_and_up", "cubic", 4, low_and_up(40), (5.5,)),
    Case("cc_ns_wifi_suspension", "bbr3", 4, Wire(10, 5, 15, suspended("10 Mbit/s", 100)), (4.0,)),
    Case("cc_ns_wifi_bad_cubic", "cubic", 4, Wire(10, 1, 80, jitter=12.5), (4.5,)),
    Case("cc_ns_wifi_bad_bbr", "bbr3", 4, Wire(10, 1, 80, jitter=12.5), (4.5,)),
)
"""Tests of picoquic and C4 with a limit of the completion time."""


def _draft() -> Iterator[Case]:
    """Tests of draft-huitema-ccwg-c4-test-04, sections 2.1 to 2.3, with the results of its section 3."""
    short_long = Wire(10, 15, 100, [{"at": "1 s", "delay": "100 ms", "bytes": "250 kB"}])
    bad = Wire(10, 1, 250, jitter=7)
    alone = {
        "alone": (10, WIDE, (4.47, 4.52), (4.69, 4.70)),
        "alone_200": (20, Wire(200, 20, 40), (1.15, 1.15), (1.22, 1.22)),
        "alone_1_5M": (4, Wire(1.5, 20, 50), (21.51, 21.55), (21.72, 21.72)),
        "alone_512k": (1, Wire(0.512, 17, 50), (16.18, 16.21), (16.21, 16.22)),
        "low_and_up": (7, low_and_up(50), (8.04, 8.07), (7.51, 7.51)),
        "drop_and_back": (7, drop_and_back(50), (7.63, 7.63), (7.63, 7.63)),
        "blackhole": (10, black_hole(25, 35), (5.70, 5.70), (5.81, 5.82)),
        "short_long": (20, short_long, (21.37, 21.54), (42.33, 43.39)),
        "wifi_bad": (4, bad, (4.08, 4.48), (5.60, 7.62)),
        "wifi_suspension": (10, Wire(20, 5, 20, suspended("20 Mbit/s", 100)), (4.60, 4.60), (4.62, 4.62)),
    }
    for name, (size, path, cubic, bbr) in alone.items():
        for cca, published in (("cubic", cubic), ("bbr3", bbr)):
            yield Case(name, cca, size, path, published)
    beside = {
        "vs_cubic": (5, WIDE, ("cubic", 10), 0, 0, (5.35, 5.58), (6.97, 7.09)),
        "vs_bbr": (5, WIDE, ("bbr3", 10), 0, 0, (2.85, 2.88), (4.50, 4.58)),
        "vs_cubic_lg": (30, WIDE, ("cubic", 20), 0, 0, (20.90, 21.12), (21.43, 21.76)),
        "vs_bbr_lg": (30, WIDE, ("bbr3", 20), 0, 0, (15.56, 15.84), (21.10, 21.13)),
        "vs_cubic_lg2": (15, Wire(10, 35, 80), ("cubic", 10), 0, 1, (20.67, 20.93), (15.53, 15.71)),
        "vs_bbr_lg2": (15, Wire(10, 35, 80), ("bbr3", 10), 0, 1, (21.52, 22.32), (18.71, 18.95)),
        "wifi_bad_cubic": (4, bad, ("cubic", 10), 1, 0, (10.40, 13.91), (8.73, 12.01)),
        "wifi_bad_bbr": (4, bad, ("bbr3", 10), 1, 0, (6.84, 12.53), (7.28, 11.63)),
    }
    for name, (size, path, other, first, second, cubic, bbr) in beside.items():
        for cca, published in (("cubic", cubic), ("bbr3", bbr)):
            yield Case(name, cca, size, path, published, other, first, second)


DRAFT = tuple(_draft())
TITLES = {
    "bounds": ["test", "algorithm", "bound, s", "ours: mean (range), s", "verdict"],
    "draft": ["test", "algorithm", "draft: mean (p90), s", "ours: mean (range), s", "verdict"],
}
GROUPS: Mapping[str, Sequence[Case]] = {"bounds": BOUNDS, "draft": DRAFT}


def with_table(text: str, group: str, made: str) -> str:
    """The page with another table of a group."""
    begin, end = f"<!-- {group} -->\n", f"\n<!-- end of {group} -->"
    before, rest = text.split(begin)
    return before + begin + made + end + rest.split(end)[1]


def main() -> None:
    """Print the tables, or write the page or the scenario files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the tables of the page")
    parser.add_argument("--scenarios", type=Path, help="write the tests as scenario files into this folder")
    chosen = parser.parse_args()
    if chosen.scenarios:
        chosen.scenarios.mkdir(parents=True, exist_ok=True)
        for case in (*BOUNDS, *DRAFT):
            scenario = case.scenario()
            (chosen.scenarios / f"{scenario.name}.toml").write_text(scenario.to_toml(), encoding="utf-8")
        return
    for group, cases in GROUPS.items():
        made = table(TITLES[group], (case.row() for case in cases))
        print(made)
        if chosen.write:
            PAGE.write_text(with_table(PAGE.read_text("utf-8"), group, made), encoding="utf-8")


if __name__ == "__main__":
    main()
