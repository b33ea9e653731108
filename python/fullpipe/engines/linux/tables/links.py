"""Makes the tables of links from the counters of queue disciplines."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from fullpipe.engines.linux.layout.network import LinkLayout, NetworkLayout
from fullpipe.engines.linux.tables.ecn_marks import marked
from fullpipe.scenario import Scenario
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

_LATE_NS = 1_000_000


@dataclass
class Totals:
    """Counters of a link so far, and its current queue."""

    dropped: int = 0
    marked: int = 0
    packets: int = 0
    size: int = 0
    waiting_packets: int | None = None
    waiting_bytes: int | None = None


Tables = dict[str, dict[str, list[Any]]]


def read(path: Path, scenario: Scenario, network: NetworkLayout) -> Tables:
    """Read the tables `links` and `links_summary`."""
    links = network.links
    interval_ns, warmup_ns = to_nanoseconds(scenario.record.interval_s), to_nanoseconds(scenario.warmup_s)
    duration_ns = to_nanoseconds(scenario.duration_s)
    history = _history(path, network, sorted({0, warmup_ns, duration_ns}), interval_ns)
    rows: dict[str, list[Any]] = defaultdict(list)
    times = [t for t in sorted(history) if interval_ns and t % interval_ns == 0 and t > 0]
    for time_ns in times:
        for number, link in enumerate(links):
            now, before = history[time_ns][number], history[time_ns - interval_ns][number]
            row = {
                "time_s": time_ns / NANOSECONDS,
                "link": link.name,
                "backlog_bytes": now.waiting_bytes,
                "backlog_packets": now.waiting_packets,
                **_between(link, before, now, time_ns - interval_ns, time_ns),
            }
            for key in ("time_s", "link", "backlog_bytes", "backlog_packets", *_COUNTED):
                rows[key].append(row[key])
    summary: dict[str, list[Any]] = defaultdict(list)
    when = [t for t in sorted(history) if warmup_ns <= t <= duration_ns]
    seen = [history[t] for t in when]
    for number, link in enumerate(links):
        before, now = history[warmup_ns][number], history[duration_ns][number]
        row = {"link": link.name, **_between(link, before, now, warmup_ns, duration_ns)}
        row["utilisation"] = _mean_utilisation(link, [h[number] for h in seen], when)
        row |= {"forwarded_packets": now.packets - before.packets, "forwarded_bytes": now.size - before.size}
        for key, value in row.items():
            summary[key].append(value)
    return {"links": rows, "links_summary": summary}


_COUNTED = ("dropped_packets", "marked_packets", "utilisation")


def _between(link: LinkLayout, before: Totals, now: Totals, from_ns: int, to_ns: int) -> dict[str, Any]:
    capacity = _capacity_bits(link, from_ns, to_ns)
    return {
        "dropped_packets": now.dropped - before.dropped,
        "marked_packets": now.marked - before.marked,
        "utilisation": BITS * (now.size - before.size) / capacity if capacity else None,
    }


def _mean_utilisation(link: LinkLayout, totals: list[Totals], when: list[int]) -> float | None:
    """Return the mean utilisation over time. If the rate changes, it differs from the share of bits."""
    pieces = zip(pairwise(totals), pairwise(when), strict=True)
    shares = [
        (_between(link, before, now, from_ns, to_ns)["utilisation"], to_ns - from_ns)
        for (before, now), (from_ns, to_ns) in pieces
    ]
    if not shares or any(share is None for share, _ in shares):
        return None
    return float(sum(share * span for share, span in shares) / sum(span for _, span in shares))


def _capacity_bits(link: LinkLayout, from_ns: int, to_ns: int) -> float | None:
    """Return the bits that a link could have sent in a time. None if its rate is unlimited."""
    if not link.rates_bps:
        return None
    bits = 0.0
    for (begin_ns, rate_bps), (end_ns, _) in pairwise((*link.rates_bps, (to_ns, 0))):
        span_ns = min(end_ns, to_ns) - max(begin_ns, from_ns)
        bits += rate_bps * max(0, span_ns) / NANOSECONDS
    return bits


def _history(
    path: Path, network: NetworkLayout, marks: list[int], interval_ns: int
) -> dict[int, list[Totals]]:
    """Read the counters of all links, by nominal time."""
    devices = list(network.watched)
    found: dict[int, list[Totals]] = {0: [Totals() for _ in network.links]}
    for time_ns, watched, kind, handle, numbers, own in _lines(path):
        meant = _meant(time_ns, marks, interval_ns)
        if meant not in found:
            found[meant] = [Totals() for _ in network.links]
        seen = devices[watched]
        _count(found[meant][seen.link], kind, handle, numbers, own, queues=seen.queues)
    return found


def _count(total: Totals, kind: str, handle: str, numbers: list[int], own: str, *, queues: bool) -> None:
    """Add the counters of a qdisc. The bucket above a queue counts some of its drops, so the larger of both
    numbers is used."""
    size, packets, drops, waiting_packets, waiting_bytes = numbers
    total.marked += marked(kind, own)
    if kind == "ingress":
        total.dropped += drops
        return
    if handle != "1":
        total.dropped = max(total.dropped, drops)
        return
    total.dropped += drops
    if queues or total.waiting_packets is None:
        total.size, total.packets = size, packets
    if queues:
        total.waiting_packets, total.waiting_bytes = waiting_packets, waiting_bytes


def _lines(path: Path) -> Iterator[tuple[int, int, str, str, list[int], str]]:
    with path.open(encoding="ascii") as file:
        for line in file:
            watched, time, kind, handle, *numbers, own = line.rstrip("\n").split(",")
            yield int(time), int(watched), kind, handle, [int(n) for n in numbers], own


def _meant(time_ns: int, marks: list[int], interval_ns: int) -> int:
    for mark_ns in marks:
        if 0 <= time_ns - mark_ns < _LATE_NS:
            return mark_ns
    return time_ns - time_ns % interval_ns if interval_ns else time_ns
