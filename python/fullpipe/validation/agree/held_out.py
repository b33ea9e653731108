"""Held-out cases: other paths, mixes and steps than the catalogue has.

Nothing is tuned on them. The sixty in every regime have rates and RTTs of their own, and were written down
before any of them had run on the native engine. One that is looked into moves to the catalogue, and another
like it, which has not run yet, takes its place."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree import case as of
from fullpipe.validation.agree.case import Case

HELD_OUT = "held out"
LAST = "held out to the end"
"""Run for the first time when the model was finished."""
REGIMES = "held out in every regime"
FAMILIES = (HELD_OUT, LAST, REGIMES)


def held_out_cases() -> list[Case]:
    """Every held-out case."""
    groups = (_first, _second, _bulk, _paths, _applications, _queues, _disturbances, _hosts)
    return [case for group in groups for case in group()]


def _first() -> Iterator[Case]:
    for cca in ("cubic", "bbr1", "htcp", "illinois", "vegas", "yeah"):
        yield of.single(HELD_OUT, cca, 30, 60, 1.5)
    for cca in ("cubic", "bbr1", "westwood", "bic"):
        yield of.single(HELD_OUT, cca, 80, 12, 0.75)
    for cca in ("cubic", "bbr1"):
        yield of.lossy(HELD_OUT, cca, 30, 25, 0.3)
        yield of.step(HELD_OUT, cca, "rate-halved", 30, 50, 1, rate="15 Mbit/s")
        yield of.step(HELD_OUT, cca, "delay-down", 15, 90, 1, delay="20 ms")
    yield of.managed(HELD_OUT, "fq_codel", {"cubic": 2}, 30, 30)
    yield of.managed(HELD_OUT, "pie", {"reno": 3}, 30, 60)
    yield of.managed(HELD_OUT, "cake", {"bbr1": 2}, 30, 30)
    yield of.mix(HELD_OUT, [("cubic", 3, 60)], 30, 1.5)
    yield of.mix(HELD_OUT, [("cubic", 2, 30), ("bbr1", 1, 30)], 40, 2)
    yield of.mix(HELD_OUT, [("htcp", 1, 50), ("cubic", 1, 50)], 30, 1)


def _second() -> Iterator[Case]:
    for cca in ("cubic", "bbr1", "reno"):
        yield of.single(LAST, cca, 7, 70, 3)
    for cca in ("cubic", "bbr1"):
        yield of.single(LAST, cca, 120, 15, 0.4)
    for cca in ("scalable", "veno", "hybla", "cdg", "nv"):
        yield of.single(LAST, cca, 45, 15, 0.4)
    yield of.lossy(LAST, "reno", 45, 15, 0.5)
    for cca in ("cubic", "bbr1"):
        yield of.step(LAST, cca, "rate-up", 7, 15, 3, rate="45 Mbit/s")
        yield of.step(LAST, cca, "delay-up", 45, 15, 1, delay="35 ms")
    yield of.managed(LAST, "codel", {"reno": 4}, 45, 70)
    yield of.managed(LAST, "cake", {"cubic": 1, "bbr1": 1}, 45, 15)
    yield of.managed(LAST, "fq_pie", {"cubic": 2}, 45, 70)
    yield of.mix(LAST, [("cubic", 8, 70)], 45, 1)
    yield of.mix(LAST, [("bbr1", 1, 15), ("reno", 1, 15)], 45, 3)
    yield of.transfer(LAST, "bbr1", "3 MB", 45, 70, 0.4)


def _bulk() -> Iterator[Case]:
    for cca, rate_mbps, rtt_ms, bdp in (
        ("cubic", 26, 33, 0.6),
        ("bbr1", 26, 33, 0.6),
        ("westwood", 64, 22, 1.2),
        ("scalable", 17, 55, 0.8),
        ("illinois", 39, 44, 0.3),
        ("veno", 12, 130, 1),
        ("highspeed", 90, 28, 0.5),
        ("bic", 34, 65, 2.5),
    ):
        yield of.single(REGIMES, cca, rate_mbps, rtt_ms, bdp)
    yield of.lossy(REGIMES, "cubic", 27, 36, 0.2)
    yield of.step(REGIMES, "bbr1", "rate-down", 42, 38, 1.5, rate="12 Mbit/s")
    yield of.step(REGIMES, "cubic", "rate-up", 9, 52, 1, rate="36 Mbit/s")
    yield of.transfer(REGIMES, "cubic", "4 MB", 37, 48, 0.7)
    yield of.mix(REGIMES, [("cubic", 1, 24), ("bbr1", 2, 24)], 33, 1.2)


def _paths() -> Iterator[Case]:
    for cca, count, rate_mbps, rtt_ms, bdp in (
        ("cubic", 1, 250, 50, 0.08),
        ("htcp", 1, 250, 50, 0.15),
        ("reno", 1, 600, 35, 0.06),
        ("bbr1", 1, 350, 70, 0.1),
        ("cubic", 4, 300, 90, 0.04),
    ):
        yield of.starting(REGIMES, cca, count, rate_mbps, rtt_ms, of.drop_tail(bdp))
    short = (("cubic", 70, 1.5, 2), ("bbr1", 110, 1.6, 2.5), ("reno", 55, 0.9, 4))
    for cca, rate_mbps, short_ms, bdp in short:
        yield of.lasting(REGIMES, cca, rate_mbps, short_ms, of.drop_tail(bdp), 12)
    for cca, slow_mbps in (("cubic", 0.7), ("bbr1", 0.35), ("reno", 0.9)):
        yield of.lasting(REGIMES, cca, slow_mbps, 85, {"kind": "drop_tail", "packets": 12}, 60)
    yield of.mix(REGIMES, [("cubic", 20, 50)], 44, 1)
    yield of.mix(REGIMES, [("reno", 7, 26), ("bbr1", 4, 26)], 55, 1.5)
    yield of.slow_acks(REGIMES, "cubic", 35, 30, 300)
    yield of.slow_acks(REGIMES, "bbr1", 24, 56, 220)
    yield of.lost_acks(REGIMES, "reno", 31, 34, 15)
    yield of.opposed(REGIMES, "cubic", "reno", 14, 46)
    yield of.opposed(REGIMES, "bbr1", "bbr1", 23, 28)


def _applications() -> Iterator[Case]:
    for label, cca, rate_mbps, rtt_ms, paces in (
        ("cbr-7m", "cubic", 18, 62, [(0, "7 Mbit/s")]),
        ("cbr-900k", "bbr1", 11, 27, [(0, "900 kbit/s")]),
        ("cbr-2m-then-bulk", "reno", 22, 32, [(0, "2 Mbit/s"), (11, None)]),
        ("60kB-each-700ms", "cubic", 13, 74, of.bursts(count=31, every_s=0.7, size_bytes=60_000)),
        ("350kB-each-1.5s", "bbr1", 23, 57, of.bursts(count=15, every_s=1.5, size_bytes=350_000)),
    ):
        yield of.paced(REGIMES, label, cca, rate_mbps, rtt_ms, paces)
    on_off = {"kind": "on_off", "rate": "12 Mbit/s", "on": "700 ms", "off": "2 s"}
    yield of.working(REGIMES, "on-off-12m", "bbr1", 16, 37, on_off)
    yield of.short_flows(REGIMES, "60 kB", "cubic", 28, 29)
    yield of.short_flows(REGIMES, "200 kB", "reno", 36, 54, cca="bbr1")


def _queues() -> Iterator[Case]:
    yield of.managed(REGIMES, "cake", {"cubic": 1}, 3, 31)
    yield of.managed(REGIMES, "cake", {"reno": 10}, 32, 43)
    yield of.managed(REGIMES, "fq_codel", {"bbr1": 5, "reno": 5}, 46, 23)
    yield of.managed(REGIMES, "fq_pie", {"cubic": 8}, 25, 58)
    yield of.managed(REGIMES, "pie", {"bbr1": 2, "cubic": 2}, 38, 47)
    yield of.managed(REGIMES, "fq_codel", {"reno": 3}, 19, 39, ecn=True)
    yield of.shaped(REGIMES, "reno", "police", 13, 40, 68)
    yield of.shaped(REGIMES, "bbr1", "police", 31, 30, 26)
    yield of.shaped(REGIMES, "reno", "tbf", 21, 64, 53, packets=80)


def _disturbances() -> Iterator[Case]:
    yield of.outage(REGIMES, "cubic", 15, 66, 0.45)
    yield of.outage(REGIMES, "bbr1", 27, 21, 2.1)
    yield of.lost_in_bursts(REGIMES, "westwood", 18, 48, 0.002)
    yield of.lost_in_bursts(REGIMES, "bbr1", 33, 57, 0.0005)
    yield of.reordered(REGIMES, "cubic", 24, 63, 8)
    yield of.reordered(REGIMES, "reno", 37, 26, 2)


def _hosts() -> Iterator[Case]:
    yield of.host(REGIMES, "mss-1200", "bbr1", 43, 35, mss="1200 B")
    yield of.host(REGIMES, "mss-4000", "reno", 52, 51, mss="4000 B")
    yield of.host(REGIMES, "single-packets", "reno", 26, 72, max_burst="off")
    yield of.host(REGIMES, "fq", "cubic", 47, 25, pacing="fq")
    yield of.host(REGIMES, "bursts-of-6", "yeah", 29, 61, min_burst=6)
    yield of.host(REGIMES, "window-100KiB", "reno", 41, 49, receive_buffer="100 KiB")
