"""Cases on which nothing is tuned: other paths, other mixes, other steps than the catalogue has."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.agree.case import Case, lossy, managed, mix, single, step

HELD_OUT = "held out"


def held_out_cases() -> list[Case]:
    """Every held-out case."""
    return list(_cases())


def _cases() -> Iterator[Case]:
    for cca in ("cubic", "bbr1", "htcp", "illinois", "vegas", "yeah"):
        yield single(HELD_OUT, cca, 30, 60, 1.5)
    for cca in ("cubic", "bbr1", "westwood", "bic"):
        yield single(HELD_OUT, cca, 80, 12, 0.75)
    for cca in ("cubic", "bbr1"):
        yield lossy(HELD_OUT, cca, 30, 25, 0.3)
        yield step(HELD_OUT, cca, "rate-halved", 30, 50, 1, rate="15 Mbit/s")
        yield step(HELD_OUT, cca, "delay-down", 15, 90, 1, delay="20 ms")
    yield managed(HELD_OUT, "fq_codel", "cubic", 2, 30, 30)
    yield managed(HELD_OUT, "pie", "reno", 3, 30, 60)
    yield managed(HELD_OUT, "cake", "bbr1", 2, 30, 30)
    yield mix(HELD_OUT, [("cubic", 3, 60)], 30, 1.5)
    yield mix(HELD_OUT, [("cubic", 2, 30), ("bbr1", 1, 30)], 40, 2)
    yield mix(HELD_OUT, [("htcp", 1, 50), ("cubic", 1, 50)], 30, 1)
