"""Cases on which nothing is tuned: other paths, other mixes, other steps than the catalogue has."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree.case import Case, lossy, managed, mix, single, step, transfer
from fullpipe.validation.agree.held_out_regimes import REGIMES, regime_cases

HELD_OUT = "held out"
LAST = "held out to the end"
"""Run for the first time when the model was finished."""
FAMILIES = (HELD_OUT, LAST, REGIMES)


def held_out_cases() -> list[Case]:
    """Every held-out case."""
    return [*_first(), *_second(), *regime_cases()]


def _first() -> Iterator[Case]:
    for cca in ("cubic", "bbr1", "htcp", "illinois", "vegas", "yeah"):
        yield single(HELD_OUT, cca, 30, 60, 1.5)
    for cca in ("cubic", "bbr1", "westwood", "bic"):
        yield single(HELD_OUT, cca, 80, 12, 0.75)
    for cca in ("cubic", "bbr1"):
        yield lossy(HELD_OUT, cca, 30, 25, 0.3)
        yield step(HELD_OUT, cca, "rate-halved", 30, 50, 1, rate="15 Mbit/s")
        yield step(HELD_OUT, cca, "delay-down", 15, 90, 1, delay="20 ms")
    yield managed(HELD_OUT, "fq_codel", {"cubic": 2}, 30, 30)
    yield managed(HELD_OUT, "pie", {"reno": 3}, 30, 60)
    yield managed(HELD_OUT, "cake", {"bbr1": 2}, 30, 30)
    yield mix(HELD_OUT, [("cubic", 3, 60)], 30, 1.5)
    yield mix(HELD_OUT, [("cubic", 2, 30), ("bbr1", 1, 30)], 40, 2)
    yield mix(HELD_OUT, [("htcp", 1, 50), ("cubic", 1, 50)], 30, 1)


def _second() -> Iterator[Case]:
    for cca in ("cubic", "bbr1", "reno"):
        yield single(LAST, cca, 7, 70, 3)
    for cca in ("cubic", "bbr1"):
        yield single(LAST, cca, 120, 15, 0.4)
    for cca in ("scalable", "veno", "hybla", "cdg", "nv"):
        yield single(LAST, cca, 45, 15, 0.4)
    yield lossy(LAST, "reno", 45, 15, 0.5)
    for cca in ("cubic", "bbr1"):
        yield step(LAST, cca, "rate-up", 7, 15, 3, rate="45 Mbit/s")
        yield step(LAST, cca, "delay-up", 45, 15, 1, delay="35 ms")
    yield managed(LAST, "codel", {"reno": 4}, 45, 70)
    yield managed(LAST, "cake", {"cubic": 1, "bbr1": 1}, 45, 15)
    yield managed(LAST, "fq_pie", {"cubic": 2}, 45, 70)
    yield mix(LAST, [("cubic", 8, 70)], 45, 1)
    yield mix(LAST, [("bbr1", 1, 15), ("reno", 1, 15)], 45, 3)
    yield transfer(LAST, "bbr1", "3 MB", 45, 70, 0.4)
