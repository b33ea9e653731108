"""Bulk flows: every algorithm, on many paths, behind many queues, with loss, marks, steps and company."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree.case import Case, lossy, managed, mix, single, step, transfer

ALGORITHMS = (
    "reno",
    "cubic",
    "bic",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "scalable",
    "westwood",
    "vegas",
    "veno",
    "nv",
    "yeah",
    "cdg",
    "dctcp",
    "bbr1",
)
"""Of a kernel as it is released; its `lp` behaves as Reno and says nothing."""
_COMMON = ("cubic", "bbr1", "reno")


def algorithms() -> Iterator[Case]:
    for cca in ALGORITHMS:
        yield single("algorithms", cca, 20, 40, 1)
        yield single("algorithms", cca, 50, 20, 0.5)


def rates_and_rtts() -> Iterator[Case]:
    for cca in _COMMON:
        for rate_mbps, rtt_ms in ((2, 40), (10, 100), (100, 20), (100, 5)):
            yield single("rates and RTTs", cca, rate_mbps, rtt_ms, 1)


def buffers() -> Iterator[Case]:
    for cca in _COMMON:
        for bdp in (0.25, 2, 4):
            yield single("buffers", cca, 20, 40, bdp)


def loss() -> Iterator[Case]:
    for cca in (*_COMMON, "westwood"):
        for percent in (0.1, 1):
            yield lossy("loss", cca, 20, 40, percent)


def queues() -> Iterator[Case]:
    for kind in ("codel", "fq_codel", "pie", "fq_pie", "cake"):
        for cca in ("cubic", "bbr1"):
            yield managed("queues", kind, {cca: 1}, 20, 40)
        yield managed("queues", kind, {"cubic": 4}, 50, 40)


def marks() -> Iterator[Case]:
    yield managed("marks", "codel", {"cubic": 1}, 20, 40, ecn=True)
    yield managed("marks", "fq_codel", {"cubic": 4}, 50, 40, ecn=True)
    yield managed("marks", "codel", {"dctcp": 1}, 20, 40, ecn=True)
    yield managed("marks", "dualpi2", {"cubic": 2}, 50, 20, ecn=True)


def steps() -> Iterator[Case]:
    for cca in _COMMON:
        yield step("steps", cca, "rate-down", 20, 40, 1, rate="5 Mbit/s")
        yield step("steps", cca, "rate-up", 5, 40, 2, rate="20 Mbit/s")
        yield step("steps", cca, "delay-up", 20, 40, 1, delay="40 ms")


def mixes() -> Iterator[Case]:
    family = "mixes"
    yield mix(family, [("cubic", 2, 40)], 20, 1)
    yield mix(family, [("cubic", 4, 40)], 50, 1)
    yield mix(family, [("reno", 1, 40), ("cubic", 1, 40)], 20, 1)
    yield mix(family, [("cubic", 1, 40), ("bbr1", 1, 40)], 20, 1)
    yield mix(family, [("cubic", 1, 40), ("bbr1", 1, 40)], 20, 4)
    yield mix(family, [("cubic", 1, 20), ("cubic", 1, 80)], 20, 1)
    yield mix(family, [("bbr1", 1, 20), ("bbr1", 1, 80)], 20, 1)
    yield mix(family, [("bbr1", 4, 40)], 50, 1)


def transfers() -> Iterator[Case]:
    for cca in _COMMON:
        yield transfer("transfers", cca, "1 MB", 20, 40, 1)


FAMILIES = (algorithms, rates_and_rtts, buffers, loss, queues, marks, steps, mixes, transfers)
