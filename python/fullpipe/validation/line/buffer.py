"""The buffer of a direction, by what pings take while streams fill it, and what kind of queue that tells."""

import math
from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from fullpipe.engines.flent.send_memory import FEW_EVENTS, FILLING
from fullpipe.validation.line.estimate import Base, Wait, full_s, loaded_pings, wait_of
from fullpipe.validation.line.measured import Floats, Measured, Way
from fullpipe.validation.line.noise import without_noise

_SEEN = 2.0
"""Standard deviations of the noise of a ping: one in 44 is beyond by chance (normal), and rises that are
smaller are not seen."""
_EARLY_S, _LATE_S = 3.0, 8.0
"""Slow start overfills a queue in the first seconds; what manages it has taken it down in the next."""
_OVERSHOOT = 2.0
"""A queue first in, first out is as long at its longest later as after slow start."""
_SHORT_S = 2 * 0.015
"""Twice the target of PIE (RFC 8033), which is above that of CoDel: what managed queues keep waits below."""
_COARSE = 0.05
"""Of the wait: where a packet takes more, the wait is not known to that: a buffer is full to a packet."""
_NEAR, _SELDOM = 0.8, 0.05
"""Of the rise, and share of pings: fewer near the longest wait have met a full buffer by chance."""
_PACKET_BITS = 1514 * 8
_PER_FLOW, _MANAGED = "fq_codel", "codel"
"""Queues that stand for any of their kind."""


@dataclass(frozen=True)
class Buffer:
    """What is known of a buffer."""

    full_s: float
    """The RTT while it is as full as it was seen to get."""
    wait_s: float | None
    """The wait in a full one; None if it is not known."""
    told: str
    is_least: bool = False
    """Whether it, or what kind of queue it is, is not known."""
    least_s: float = 0.0
    """What the wait in a full one is above."""
    most_s: float | None = None
    """What it is below if it is drop-tail; None if nothing tells that."""
    stands_for: str = ""
    """A queue that stands for what is not known, if one does."""


def buffer_of(measured: Measured, way: Way, base: Base, rate_bps: float) -> Buffer:
    """The buffer of a direction.

    With streams both ways at once, the two queues fill in turn (see `engines.flent.two_way`), and it is taken
    to be what pings saw of both.
    """
    rates = measured.rates[way]
    loaded = loaded_pings(measured, [rates])
    if not loaded.rtts_s.size:
        told = "no ping was sent while streams ran; nothing is known of it"
        return Buffer(base.rtt_s, None, told, is_least=True)
    full = full_s(loaded.rtts_s, base)
    wait_s = full - base.rtt_s
    short = rates.ccas - FILLING
    if rates.ccas and short == rates.ccas:
        told = f"{', '.join(sorted(short))} may keep queues short; only what fills buffers shows one"
        return Buffer(full, None, told, is_least=True)
    wait = wait_of(loaded.rtts_s, base)
    hidden_s = _SEEN * base.noise * base.rtt_s
    if wait_s < hidden_s or not wait.is_filled(rate_bps):
        is_timed = measured.one_clock and not measured.has_unsure
        return _not_known(full, wait, rate_bps, hidden_s, is_timed=is_timed)
    if measured.one_clock and (first_s := _overshoot_s(measured, way, base, wait_s)):
        told = (
            f"pings took {first_s * 1e3:.3g} ms longer at first and {wait_s * 1e3:.3g} ms at most later: a"
            f" managed queue, for which {_MANAGED} stands; it holds at least the former"
        )
        return Buffer(full, None, told, is_least=True, stands_for=_MANAGED)
    coarse = _PACKET_BITS / rate_bps > _COARSE * wait_s
    return _first_in_first_out(
        loaded.rtts_s, rates.ccas, rates.resent, base, full, measured, way, coarse=coarse
    )


def _first_in_first_out(
    loaded: Floats,
    ccas: Set[str],
    resent: int | None,
    base: Base,
    full: float,
    measured: Measured,
    way: Way,
    *,
    coarse: bool,
) -> Buffer:
    wait_s = full - base.rtt_s
    told = f"{wait_s * 1e3:.4g} ms, the longest wait of pings without the noise; taken for drop-tail"
    doubts = []
    if wait_s < _SHORT_S:
        doubts.append(
            "a managed queue (CoDel, PIE) keeps waits as short, and is not told from a small buffer"
        )
    if coarse:
        doubts.append(f"a packet more or less is more than {_COARSE:.0%} of it")
    if _is_seldom_full(loaded, base, full):
        doubts.append("it was seldom full")
    if resent is not None and resent < FEW_EVENTS:
        doubts.append(f"{resent} segments were retransmitted")
    if measured.has_unsure:
        doubts.append("for part of the time only flows tell of it that may never have met an empty queue")
    if not measured.one_clock and len(measured.rates) > 1:
        doubts.append("pings and rates have no common clock, so that it is that of either direction")
    if measured.both_at_once:
        doubts.append(
            "both directions were busy at once, and pings wait in both, of which `fullpipe twin` tells more"
        )
    if not ccas:
        told += "; the algorithm is not said, and taken for one that fills buffers, such as CUBIC"
    if doubts:
        return Buffer(full, wait_s, f"at least {told}; {'; '.join(doubts)}", is_least=True)
    return Buffer(full, wait_s, told)


def _not_known(full: float, wait: Wait, rate_bps: float, hidden_s: float, *, is_timed: bool) -> Buffer:
    """A buffer that pings hardly waited in.

    Without a common clock idle ones are among them, and where they may never have met an empty queue they
    waited for longer than is seen: then their mean sets no upper limit.
    """
    most_s = wait.most_s if is_timed else None
    between = f"at least {wait.least_s * 1e3:.2g} ms"
    if most_s is not None:
        packets = most_s * rate_bps / _PACKET_BITS
        between = f"{wait.least_s * 1e3:.2g} to {most_s * 1e3:.2g} ms, {packets:.2g} packets at most"
    limits = f"a drop-tail buffer that one flow filled again and again has {between}"
    if full - wait.rtt_s < hidden_s or not wait.is_seen(rate_bps):
        told = (
            "pings took no longer under load than noise and bursts explain: queues per flow, for which"
            f" {_PER_FLOW} stands, a managed queue, a small buffer, or a load that never filled the line;"
        )
        return Buffer(full, None, f"{told} {limits}", True, wait.least_s, most_s, _PER_FLOW)
    about_s = min(max(full - wait.rtt_s, wait.least_s), math.inf if most_s is None else most_s)
    told = f"some {about_s * 1e3:.2g} ms, which a managed queue (CoDel, PIE) keeps, too; {limits}"
    return Buffer(full, about_s, told, True, wait.least_s, most_s)


def _is_seldom_full(loaded: Floats, base: Base, full: float) -> bool:
    spread = without_noise(loaded, base.noise)
    near_s = base.rtt_s + _NEAR * (full - base.rtt_s)
    return float(spread.shares[spread.values >= near_s].sum()) < _SELDOM


def _overshoot_s(measured: Measured, way: Way, base: Base, wait_s: float) -> float:
    """How much longer pings took just after the start, if a managed queue tells that; else 0."""
    pings, begin_s = measured.pings, measured.rates[way].begin_s
    since_s, end_s = pings.sent_s - begin_s, measured.rates[way].end_s - begin_s
    early = pings.rtts_s[(since_s >= 0) & (since_s < _EARLY_S)]
    late = pings.rtts_s[(since_s >= _LATE_S) & (since_s <= end_s)]
    if not early.size or not late.size:
        return 0.0
    first_s = float(np.sort(early)[-2:].mean()) - base.rtt_s
    later_s = full_s(late, base) - base.rtt_s
    usual_s = float(np.median(late)) - base.rtt_s
    beyond_noise = first_s - later_s > _SEEN * base.noise * (base.rtt_s + later_s)
    is_managed = usual_s < _SHORT_S and first_s > _OVERSHOOT * later_s and beyond_noise
    return first_s if is_managed else 0.0
