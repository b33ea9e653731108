"""Paths at the edges: fast ones with little buffer, short ones, slow ones, and ones that many flows share."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree.case import Case, drop_tail, mix
from fullpipe.validation.agree.regimes import lasting, lost_acks, opposed, slow_acks, starting


def start_up() -> Iterator[Case]:
    """From 200 Mbit/s up, the first overshoot meets a buffer of a tenth of the path or less."""
    family = "start-up"
    for cca in ("cubic", "reno", "bbr1", "yeah"):
        yield starting(family, cca, 1, 200, 40, drop_tail(0.1))
    yield starting(family, "cubic", 1, 500, 60, drop_tail(0.05))
    yield starting(family, "bic", 1, 300, 80, drop_tail(0.1))
    yield starting(family, "cubic", 1, 1000, 120, {"kind": "drop_tail", "packets": 100})
    yield starting(family, "cubic", 8, 400, 60, drop_tail(0.05))
    yield starting(family, "reno", 8, 400, 60, drop_tail(0.05))


def short_rtts() -> Iterator[Case]:
    """Round trips of which a packet, or the clock's tick, is a part."""
    family = "short RTTs"
    for cca in ("cubic", "bbr1", "reno"):
        yield lasting(family, cca, 100, 1, drop_tail(2), 12)
    for cca in ("cubic", "dctcp"):
        yield lasting(family, cca, 100, 2, drop_tail(1), 12)
    yield lasting(family, "bbr1", 50, 0.5, drop_tail(8), 12)
    yield lasting(family, "reno", 40, 0.8, drop_tail(5), 12)
    yield lasting(family, "bbr1", 150, 1.2, drop_tail(3), 12)
    yield mix(family, [("cubic", 1, 1), ("bbr1", 1, 1)], 100, 4)


def slow_links() -> Iterator[Case]:
    """A packet takes 12 to 47 ms."""
    for cca, rate_mbps in (("reno", 0.256), ("cubic", 0.256), ("cubic", 0.5), ("bbr1", 0.5), ("vegas", 1)):
        yield lasting("slow links", cca, rate_mbps, 100, {"kind": "drop_tail", "packets": 15}, 60)


def many_flows() -> Iterator[Case]:
    """More than eight, some with windows of a few packets."""
    family = "many flows"
    yield mix(family, [("cubic", 16, 40)], 50, 1)
    yield mix(family, [("reno", 32, 40)], 20, 1)
    yield mix(family, [("bbr1", 12, 40)], 60, 1)
    yield mix(family, [("cubic", 6, 30), ("bbr1", 3, 30), ("reno", 3, 60)], 60, 1)


def ack_paths() -> Iterator[Case]:
    """ACKs that wait, and ACKs that are lost."""
    for cca, rate_mbps, up_kbps in (("cubic", 50, 500), ("bbr1", 50, 500), ("reno", 20, 150)):
        yield slow_acks("ACK paths", cca, rate_mbps, 40, up_kbps)
    for cca in ("cubic", "bbr1"):
        yield lost_acks("ACK paths", cca, 20, 40, 10)


def both_ways() -> Iterator[Case]:
    """Data of one direction meets the ACKs of the other."""
    for there, back in (("cubic", "cubic"), ("bbr1", "cubic"), ("reno", "bbr1")):
        yield opposed("both ways", there, back, 20, 40)


FAMILIES = (start_up, short_rtts, slow_links, many_flows, ack_paths, both_ways)
