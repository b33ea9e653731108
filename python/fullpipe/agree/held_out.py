"""Cases on which nothing is tuned: other paths, other mixes, other steps than the catalogue has."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.agree.case import Case, lossy, managed, mix, single, step, transfer

HELD_OUT = "held out"


def held_out_cases() -> list[Case]:
    """Every held-out case."""
    return [*_first(), *_second()]


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
    """Chosen later, and run first when the model was finished."""
    for cca in ("cubic", "bbr1", "reno"):
        yield single(HELD_OUT, cca, 7, 70, 3)
    for cca in ("cubic", "bbr1"):
        yield single(HELD_OUT, cca, 120, 15, 0.4)
    for cca in ("scalable", "veno", "hybla", "cdg", "nv"):
        yield single(HELD_OUT, cca, 45, 15, 0.4)
    yield lossy(HELD_OUT, "reno", 45, 15, 0.5)
    for cca in ("cubic", "bbr1"):
        yield step(HELD_OUT, cca, "rate-up", 7, 15, 3, rate="45 Mbit/s")
        yield step(HELD_OUT, cca, "delay-up", 45, 15, 1, delay="35 ms")
    yield managed(HELD_OUT, "codel", {"reno": 4}, 45, 70)
    yield managed(HELD_OUT, "cake", {"cubic": 1, "bbr1": 1}, 45, 15)
    yield managed(HELD_OUT, "fq_pie", {"cubic": 2}, 45, 70)
    yield mix(HELD_OUT, [("cubic", 8, 70)], 45, 1)
    yield mix(HELD_OUT, [("bbr1", 1, 15), ("reno", 1, 15)], 45, 3)
    yield transfer(HELD_OUT, "bbr1", "3 MB", 45, 70, 0.4)
