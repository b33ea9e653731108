"""Cases against Linux: the catalogue that the native engine is developed against, and the held-out cases."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree import case as of
from fullpipe.validation.agree.case import Case

ALGORITHMS = (
    *("reno", "cubic", "bic", "highspeed", "htcp", "hybla", "illinois", "scalable", "westwood"),
    *("vegas", "veno", "nv", "yeah", "cdg", "dctcp", "bbr1"),
)
"""Algorithms of a released kernel. The kernel's `lp` is left out, because it behaves as Reno."""
_COMMON = ("cubic", "bbr1", "reno")
HELD_OUT = "held out"
LAST = "held out to the end"
"""Label of cases that were run for the first time when the model was finished."""
REGIMES = "held out in every regime"


def cases() -> list[Case]:
    """Every case, in the order of the page."""
    groups = (_bulk, _paths, _applications, _queues, _disturbances, _hosts)
    return [case for group in groups for case in group()]


def _bulk() -> Iterator[Case]:
    """Every algorithm: on many paths, behind many queues, with loss, marks, path changes and competitors."""
    for cca in ALGORITHMS:
        yield of.single("algorithms", cca, 20, 40, 1)
        yield of.single("algorithms", cca, 50, 20, 0.5)
    for cca in _COMMON:
        for rate_mbps, rtt_ms in ((2, 40), (10, 100), (100, 20), (100, 5)):
            yield of.single("rates and RTTs", cca, rate_mbps, rtt_ms, 1)
    for cca in _COMMON:
        for bdp in (0.25, 2, 4):
            yield of.single("buffers", cca, 20, 40, bdp)
    for cca in (*_COMMON, "westwood"):
        for percent in (0.1, 1):
            yield of.lossy("loss", cca, 20, 40, percent)
    for kind in ("codel", "fq_codel", "pie", "fq_pie", "cake"):
        for cca in ("cubic", "bbr1"):
            yield of.managed("queues", kind, {cca: 1}, 20, 40)
        yield of.managed("queues", kind, {"cubic": 4}, 50, 40)
    yield of.managed("marks", "codel", {"cubic": 1}, 20, 40, ecn=True)
    yield of.managed("marks", "fq_codel", {"cubic": 4}, 50, 40, ecn=True)
    yield of.managed("marks", "codel", {"dctcp": 1}, 20, 40, ecn=True)
    yield of.managed("marks", "dualpi2", {"cubic": 2}, 50, 20, ecn=True)
    for cca in _COMMON:
        yield of.step("steps", cca, "rate-down", 20, 40, 1, rate="5 Mbit/s")
        yield of.step("steps", cca, "rate-up", 5, 40, 2, rate="20 Mbit/s")
        yield of.step("steps", cca, "delay-up", 20, 40, 1, delay="40 ms")
    family = "mixes"
    yield of.mix(family, [("cubic", 2, 40)], 20, 1)
    yield of.mix(family, [("cubic", 4, 40)], 50, 1)
    yield of.mix(family, [("reno", 1, 40), ("cubic", 1, 40)], 20, 1)
    yield of.mix(family, [("cubic", 1, 40), ("bbr1", 1, 40)], 20, 1)
    yield of.mix(family, [("cubic", 1, 40), ("bbr1", 1, 40)], 20, 4)
    yield of.mix(family, [("cubic", 1, 20), ("cubic", 1, 80)], 20, 1)
    yield of.mix(family, [("bbr1", 1, 20), ("bbr1", 1, 80)], 20, 1)
    yield of.mix(family, [("bbr1", 4, 40)], 50, 1)
    for cca in _COMMON:
        yield of.transfer("transfers", cca, "1 MB", 20, 40, 1)


def _paths() -> Iterator[Case]:
    """Extreme paths: fast with little buffer, short, slow, and shared by many flows."""
    # From 200 Mbit/s up, the first overshoot meets a buffer of at most a tenth of a BDP.
    family = "start-up"
    for cca in ("cubic", "reno", "bbr1", "yeah"):
        yield of.starting(family, cca, 1, 200, 40, of.drop_tail(0.1))
    yield of.starting(family, "cubic", 1, 500, 60, of.drop_tail(0.05))
    yield of.starting(family, "bic", 1, 300, 80, of.drop_tail(0.1))
    yield of.starting(family, "cubic", 1, 1000, 120, {"kind": "drop_tail", "packets": 100})
    yield of.starting(family, "cubic", 8, 400, 60, of.drop_tail(0.05))
    yield of.starting(family, "reno", 8, 400, 60, of.drop_tail(0.05))
    # The transmission of a packet, or a tick of the kernel's clock, takes a large part of the RTT.
    family = "short RTTs"
    for cca in ("cubic", "bbr1", "reno"):
        yield of.lasting(family, cca, 100, 1, of.drop_tail(2), 12)
    for cca in ("cubic", "dctcp"):
        yield of.lasting(family, cca, 100, 2, of.drop_tail(1), 12)
    yield of.lasting(family, "bbr1", 50, 0.5, of.drop_tail(8), 12)
    yield of.lasting(family, "reno", 40, 0.8, of.drop_tail(5), 12)
    yield of.lasting(family, "bbr1", 150, 1.2, of.drop_tail(3), 12)
    yield of.mix(family, [("cubic", 1, 1), ("bbr1", 1, 1)], 100, 4)
    # A packet takes 12 to 47 ms to send.
    queue = {"kind": "drop_tail", "packets": 15}
    for cca, rate_mbps in (("reno", 0.256), ("cubic", 0.256), ("cubic", 0.5), ("bbr1", 0.5), ("vegas", 1)):
        yield of.lasting("slow links", cca, rate_mbps, 100, queue, 60)
    # More than eight flows, some with windows of a few packets.
    family = "many flows"
    yield of.mix(family, [("cubic", 16, 40)], 50, 1)
    yield of.mix(family, [("reno", 32, 40)], 20, 1)
    yield of.mix(family, [("bbr1", 12, 40)], 60, 1)
    yield of.mix(family, [("cubic", 6, 30), ("bbr1", 3, 30), ("reno", 3, 60)], 60, 1)
    # ACKs are queued, or lost.
    for cca, rate_mbps, up_kbps in (("cubic", 50, 500), ("bbr1", 50, 500), ("reno", 20, 150)):
        yield of.slow_acks("ACK paths", cca, rate_mbps, 40, up_kbps)
    for cca in ("cubic", "bbr1"):
        yield of.lost_acks("ACK paths", cca, 20, 40, 10)
    # The data of each direction shares a queue with the ACKs of the other direction.
    for there, back in (("cubic", "cubic"), ("bbr1", "cubic"), ("reno", "bbr1")):
        yield of.opposed("both ways", there, back, 20, 40)


def _applications() -> Iterator[Case]:
    """Applications that do not always have more to send, and short flows beside long ones."""
    # Applications send at a constant rate, at a rate that changes, in bursts, and sparsely.
    family = "applications"
    for label, ccas, paces in (
        ("cbr-5m", ("cubic", "bbr1"), [(0, "5 Mbit/s")]),
        ("cbr-18m", ("reno",), [(0, "18 Mbit/s")]),
        ("cbr-100k", ("cubic",), [(0, "100 kbit/s")]),
        ("cbr-4m-then-bulk", ("cubic", "bbr1"), [(0, "4 Mbit/s"), (12, None)]),
        ("bulk-cbr-3m-bulk", ("cubic",), [(0, None), (10, "3 Mbit/s"), (17, None)]),
        ("100kB-each-s", ("cubic", "bbr1"), of.bursts(count=22, every_s=1, size_bytes=100_000)),
        ("1MB-each-4s", ("reno", "bbr1"), of.bursts(count=6, every_s=4, size_bytes=1_000_000)),
    ):
        for cca in ccas:
            yield of.paced(family, label, cca, 20, 40, paces)
    sparse = of.bursts(count=11, every_s=2, size_bytes=400_000)
    yield of.paced(family, "400kB-each-2s", "bbr1", 29, 42, sparse)
    on_off = {"kind": "on_off", "rate": "15 Mbit/s", "on": "1.5 s", "off": "1 s"}
    for cca in ("cubic", "bbr1"):
        yield of.working(family, "on-off-15m", cca, 20, 40, on_off)
    # Short flows start beside a long flow or without other flows; the completion times of the short flows
    # count.
    family = "short flows"
    yield of.short_flows(family, "15 kB", "cubic", 20, 40)
    yield of.short_flows(family, "100 kB", "cubic", 50, 40)
    yield of.short_flows(family, "100 kB", "bbr1", 20, 40)
    yield of.short_flows(family, "300 kB", None, 20, 40)


def _queues() -> Iterator[Case]:
    """Fair queues with many flows, CAKE on slow links, policers and token buckets."""
    # CAKE on slow links, where the transmission of a packet takes long; and fair queues with many flows.
    family = "fair queues"
    for cca, rate_mbps in (("cubic", 2), ("cubic", 5), ("reno", 10), ("bbr1", 5)):
        yield of.managed(family, "cake", {cca: 1}, rate_mbps, 40)
    yield of.managed(family, "cake", {"cubic": 16}, 50, 40)
    yield of.managed(family, "cake", {"reno": 8}, 30, 40)
    yield of.managed(family, "cake", {"bbr1": 8}, 50, 40)
    yield of.managed(family, "fq_codel", {"cubic": 16}, 50, 40)
    yield of.managed(family, "fq_codel", {"cubic": 6, "bbr1": 6}, 50, 40)
    yield of.managed(family, "fq_pie", {"reno": 12}, 50, 40)
    # Policers drop packets above their rate, and have no queue.
    for cca, burst_kb in (("cubic", 60), ("reno", 25), ("bbr1", 60)):
        yield of.shaped("policers", cca, "police", 20, burst_kb, 40)
    # After idle time, token buckets send a burst of up to `burst_kb`.
    for cca, burst_kb in (("cubic", 16), ("cubic", 128), ("bbr1", 128)):
        yield of.shaped("token buckets", cca, "tbf", 20, burst_kb, 40, packets=66)


def _disturbances() -> Iterator[Case]:
    """Paths that fail for a while, lose packets in bursts, or deliver them out of order."""
    # No packet arrives for a while: senders time out, and undo the timeout if it was spurious.
    for cca, lasts_s in (("cubic", 0.15), ("cubic", 1.3), ("bbr1", 1.3), ("reno", 0.6)):
        yield of.outage("outages", cca, 20, 40, lasts_s)
    # Each packet begins a burst of losses with probability 0.001.
    for cca in ("cubic", "bbr1", "reno"):
        yield of.lost_in_bursts("bursty loss", cca, 20, 40, 0.001)
    # Spreads below and above a quarter of the RTT, the first reordering window of RACK.
    for cca, spread_ms in (("cubic", 3), ("bbr1", 3), ("reno", 12), ("bbr1", 12)):
        yield of.reordered("reordering", cca, 20, 40, spread_ms)


def _hosts() -> Iterator[Case]:
    """Hosts with non-default settings: segments, bursts, pacing, windows."""
    # Segments smaller than full Ethernet packets, and segments larger than full Ethernet packets.
    for cca, mss_bytes in (("cubic", 536), ("reno", 256), ("bbr1", 536), ("cubic", 8948)):
        yield of.host("segments", f"mss-{mss_bytes}", cca, 30, 40, mss=f"{mss_bytes} B")
    # Single packets, larger bursts, pacing by the host's queue, an ACK for every packet.
    family = "offloads"
    for cca in ("cubic", "bbr1"):
        yield of.host(family, "single-packets", cca, 30, 40, max_burst="off")
        yield of.host(family, "fq", cca, 30, 40, pacing="fq")
    yield of.host(family, "bursts-of-8", "cubic", 30, 40, min_burst=8)
    yield of.host(family, "no-sack-compression", "cubic", 30, 40, sack_compression=False)
    yield of.host(family, "ack-every-packet", "bbr1", 30, 40, ack_every=1)
    # Congestion windows above the receive window, and initial windows of one packet.
    family = "windows"
    for cca in ("cubic", "bbr1"):
        yield of.host(family, "window-64KiB", cca, 30, 40, receive_buffer="64 KiB")
    yield of.host(family, "initial-window-1", "cubic", 30, 40, initial_window=1)
    # Default socket buffers of Linux: both sides auto-tune the buffers, which limit flows on long fat paths.
    fat = (("cubic", 100, 100), ("cubic", 200, 50), ("bbr1", 100, 50), ("reno", 50, 80), ("hybla", 20, 200))
    for cca, rate_mbps, rtt_ms in fat:
        yield of.host("stock buffers", "stock-buffers", cca, rate_mbps, rtt_ms, host="linux-defaults")


def held_out_cases() -> list[Case]:
    """Every held-out case: paths, mixes and path changes that the catalogue does not have.

    Nothing is tuned on these cases. Sixty of the cases, in every regime, have rates and RTTs that no other
    case has. All sixty were written before the native engine had run one. A case that is examined moves to
    the catalogue, and a similar case that has not run yet takes its place.
    """
    return [*_first(), *_last(), *_in_every_regime()]


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


def _last() -> Iterator[Case]:
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


def _in_every_regime() -> Iterator[Case]:
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
    yield of.managed(REGIMES, "cake", {"cubic": 1}, 3, 31)
    yield of.managed(REGIMES, "cake", {"reno": 10}, 32, 43)
    yield of.managed(REGIMES, "fq_codel", {"bbr1": 5, "reno": 5}, 46, 23)
    yield of.managed(REGIMES, "fq_pie", {"cubic": 8}, 25, 58)
    yield of.managed(REGIMES, "pie", {"bbr1": 2, "cubic": 2}, 38, 47)
    yield of.managed(REGIMES, "fq_codel", {"reno": 3}, 19, 39, ecn=True)
    yield of.shaped(REGIMES, "reno", "police", 13, 40, 68)
    yield of.shaped(REGIMES, "bbr1", "police", 31, 30, 26)
    yield of.shaped(REGIMES, "reno", "tbf", 21, 64, 53, packets=80)
    yield of.outage(REGIMES, "cubic", 15, 66, 0.45)
    yield of.outage(REGIMES, "bbr1", 27, 21, 2.1)
    yield of.lost_in_bursts(REGIMES, "westwood", 18, 48, 0.002)
    yield of.lost_in_bursts(REGIMES, "bbr1", 33, 57, 0.0005)
    yield of.reordered(REGIMES, "cubic", 24, 63, 8)
    yield of.reordered(REGIMES, "reno", 37, 26, 2)
    yield of.host(REGIMES, "mss-1200", "bbr1", 43, 35, mss="1200 B")
    yield of.host(REGIMES, "mss-4000", "reno", 52, 51, mss="4000 B")
    yield of.host(REGIMES, "single-packets", "reno", 26, 72, max_burst="off")
    yield of.host(REGIMES, "fq", "cubic", 47, 25, pacing="fq")
    yield of.host(REGIMES, "bursts-of-6", "yeah", 29, 61, min_burst=6)
    yield of.host(REGIMES, "window-100KiB", "reno", 41, 49, receive_buffer="100 KiB")
