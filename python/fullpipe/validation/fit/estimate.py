"""Estimates of a line: rate, delay, buffer."""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr, stdtrit

from fullpipe.engines.flent.limits import FEW_EVENTS, FILLING
from fullpipe.scenario.model.tcp import HEADERS_BYTES
from fullpipe.validation.fit.measured import (
    Floats,
    Measured,
    Pings,
    Rates,
    Way,
    noise_of_steps,
    relative_noise,
    without_noise,
)

# Rate, round-trip time and buffer, each from the part of a measurement that tells it.


_FEW = 5
"""Fewer pings tell their own spread no better than to a third: 1 / sqrt(2 (n - 1)) of a normal variable."""
_IDLE, _FASTEST = 0.25, 0.03
"""Shares of pings below which the RTT of an empty queue lies: of an idle line, on which others may send now
and then, and of all. The first is a choice: up to a half moves no RTT of 50 lines by 0.1 %; a twentieth is
wrong by 13 %."""
_RISE = 4.0
"""Standard deviations of the noise by which a ping that met a queue takes longer: of a thousand idle ones
0.03 are so by chance (normal)."""
_MOST_QUIET = 1_000
"""Limits the work, which grows with the square; no test begins after more pings of an idle line."""
_LEAST_NOISE = 0.01
"""Pings of an idle line differ by so much at the least, relatively."""
_FULL, _FULL_PINGS = 0.98, 2.5
"""Share of the pings under load below which the RTT of a full queue lies, and how many lie above at the
least: a buffer is full now and then, just before a loss. A choice: from 0.96 to 1 the buffers of 57
directions are off by 4.7 to 5.2 % (rms), at 0.9 by 8 %."""
_BUSY = 0.8
"""Share of the time below which the rate of a busy link lies: it is busy for more than the rest. A choice:
from 0.5 to 0.9 no rate of 57 moves by more than 0.6 %."""
_LEVEL = 0.07
"""What differs by less, relatively, is one level: of it the mean counts. A choice: half of it moves no rate
of 57 by more than 0.9 %, twice of it one by 4 %, as it takes in what others left of the link."""
_STARTS_S = 2.0
"""Slow start, and what a connection takes to open. A choice: from 0 to 5 s no rate of 57 moves by more than
0.6 %."""
_WINDOW_S, _WINDOW_RTTS = 0.5, 2
"""Rates are averaged over so much, and so many RTTs."""
_DEFAULT_MSS = 1448
_LEFT = 0.05
"""Of the line, unused: a rate is said to be known if it is no farther off."""
_SURE = 2.0
"""Standard errors: a mean is farther off 1 time in 44 to one side (normal)."""
_BURST = 3
"""Segments that an ACK releases at once: two for a delayed one (RFC 9293, section 3.8.6.3) and one by which
the window grows (RFC 5681, section 3.1). A ping that meets them waits for half, be the link busy or not."""


@dataclass(frozen=True)
class Base:
    """The round-trip time without a queue."""

    rtt_s: float
    noise: float
    """Of pings, relative."""
    idle: int
    """Pings of an idle line; 0 if it was never known to be idle."""


def rate_bps(rates: Rates, longest_s: float) -> float:
    """What a busy link delivers, with headers: the level at the upper end of what streams got.

    Args:
        rates: Those of one direction.
        longest_s: The longest RTT: what waits for a loss to be repaired is delivered late and at once.
    """
    mss = rates.mss or _DEFAULT_MSS
    held_s = rates.held_bits / (_LEFT * float(np.average(rates.bps, weights=rates.lasts_s)))
    found = _windows(rates, max(_WINDOW_S, _WINDOW_RTTS * longest_s, held_s))
    noise = noise_of_steps(found)
    spread = without_noise(found, noise)
    top = spread.quantile(_BUSY)
    payload_bps = spread.mean_within(top * (1 - _LEVEL), top * (1 + _LEVEL))
    return payload_bps * (mss + HEADERS_BYTES) / mss


def _windows(rates: Rates, window_s: float) -> Floats:
    """Means over windows in the order of time, without the start and without what stands still; the mean of
    all if nothing is left."""
    begun = rates.ends_s - rates.lasts_s >= rates.begin_s + _STARTS_S
    bps, lasts_s = (
        (rates.bps[begun], rates.lasts_s[begun]) if begun.sum() >= _FEW else (rates.bps, rates.lasts_s)
    )
    each = min(max(1, round(window_s / float(np.median(lasts_s)))), len(bps))
    whole = len(bps) // each * each
    bits, times_s = (bps * lasts_s)[:whole], lasts_s[:whole]
    found: Floats = bits.reshape(-1, each).sum(axis=1) / times_s.reshape(-1, each).sum(axis=1)
    if not (found > 0).any():
        return np.array([np.average(rates.bps, weights=rates.lasts_s)])
    return found[found > 0]


def base_of(measured: Measured) -> Base:
    """The RTT of an empty queue: what pings of an idle line take, else the fastest of all."""
    rtts_s = measured.pings.rtts_s
    if measured.least_rtt_s is not None:
        return Base(measured.least_rtt_s, noise_of_steps(rtts_s), 1)
    idle = idle_pings(measured)
    noise = relative_noise(idle) if idle.size else noise_of_steps(rtts_s)
    spread = without_noise(idle if idle.size else rtts_s, noise)
    low = spread.quantile(_IDLE if idle.size else _FASTEST)
    return Base(spread.mean_within(0.0, low * (1 + _LEVEL)), noise, idle.size)


def idle_pings(measured: Measured) -> Floats:
    """The RTTs of pings of an idle line, in the order of time; none if there are few, or others are faster.

    With one clock they are those that were back before the streams began; those after the streams may have
    met what they left. Without, they are the first of the log, or the last, that differ by noise alone.
    """
    pings = measured.pings
    if measured.one_clock:
        begin_s = min(of.begin_s for of in measured.rates.values())
        stretches = [pings.rtts_s[pings.sent_s + pings.rtts_s < begin_s]]
    else:
        stretches = [_quiet(pings.rtts_s), _quiet(pings.rtts_s[::-1])]
    known = [one for one in stretches if one.size >= _FEW and not _is_beaten(one, pings.rtts_s)]
    return max(known, key=len, default=np.array([]))


def _quiet(rtts_s: Floats) -> Floats:
    """The first values, up to the first that is above those before by more than noise."""
    logs = np.log(rtts_s)
    for end in range(_FEW, min(logs.size, _MOST_QUIET)):
        spread = max(float(logs[:end].std(ddof=1)), _LEAST_NOISE)
        if logs[end] - logs[:end].mean() > _rise(end) * spread:
            return rtts_s[:end]
    return rtts_s[:0]


@cache
def _rise(count: int) -> float:
    """As `_RISE`, if mean and standard deviation are known of so many values before only: the limit of
    Student's t distribution above which one more is as seldom."""
    beyond = float(ndtr(-_RISE))
    return -float(stdtrit(count - 1, beyond)) * math.sqrt(1 + 1 / count)


def _is_beaten(stretch: Floats, every: Floats) -> bool:
    """Whether more than a few pings are faster than noise lets those of a stretch be."""
    logs = np.log(stretch)
    least = float(np.median(logs)) - _RISE * max(relative_noise(stretch), _LEAST_NOISE)
    return float((np.log(every) < least).mean()) > _FASTEST


def loaded_pings(measured: Measured, rates: Sequence[Rates]) -> Pings:
    """The pings that were sent while streams ran and after their start; all, if that is not known."""
    pings = measured.pings
    if not measured.one_clock:
        return pings
    begin_s, end_s = min(of.begin_s for of in rates), max(of.end_s for of in rates)
    inside = (pings.sent_s >= begin_s) & (pings.sent_s <= end_s)
    return Pings(pings.sent_s[inside], pings.rtts_s[inside])


def full_s(loaded: Floats, base: Base) -> float:
    """The RTT while the queue is full: the upper end of what pings took under load."""
    spread = without_noise(loaded, base.noise)
    return spread.quantile(min(_FULL, 1 - _FULL_PINGS / loaded.size))


@dataclass(frozen=True)
class Wait:
    """How much longer pings take under load, on average."""

    mean_s: float
    error_s: float
    """Its standard error, from the noise of pings and their number."""
    rtt_s: float
    """Without a queue."""

    @property
    def least_s(self) -> float:
        """What the mean, and so the wait in a full buffer, is above."""
        return max(self.mean_s - _SURE * self.error_s, 0.0)

    @property
    def most_s(self) -> float:
        """What the wait in a full drop-tail buffer is below, if one flow of Reno's filled it again and again.

        Formula: its window rises evenly from half of r + q to r + q, in s of the rate, so that the mean wait
        m is q^2 / (r + q) for q <= r, and (3 q - r) / 4 beyond. Solved for q. CUBIC's
        falls by less and waits are longer.
        """
        mean_s = max(self.mean_s + _SURE * self.error_s, 0.0)
        if mean_s > self.rtt_s / 2:
            return (4 * mean_s + self.rtt_s) / 3
        return (mean_s + math.sqrt(mean_s * (mean_s + 4 * self.rtt_s))) / 2

    def is_filled(self, rate_bps: float) -> bool:
        """Whether pings met so much of a standing queue that at most `_LEFT` of the line was unused.

        Formula: with the window of `most_s`, and q in RTTs, (1 - q)^2 / (4 (1 + q)) of the line is unused on
        average over windows that are longer than its period. Bursts wait where nothing stands.
        """
        q = 1 + 2 * _LEFT - math.sqrt(8 * _LEFT + 4 * _LEFT**2)
        return self.least_s > q**2 / (1 + q) * self.rtt_s + _burst_s(rate_bps)

    def is_seen(self, rate_bps: float) -> bool:
        """Whether pings waited for longer than behind bursts."""
        return self.least_s > _burst_s(rate_bps)


def _burst_s(rate_bps: float) -> float:
    """What a ping waits on average that meets a burst."""
    return _BURST / 2 * (_DEFAULT_MSS + HEADERS_BYTES) * 8 / rate_bps


def wait_of(loaded: Floats, base: Base) -> Wait:
    """What pings under load waited.

    Args:
        loaded: Their RTTs, shape (n,), at least one.
        base: The RTT without a queue.
    """
    error_s = base.noise * base.rtt_s * math.sqrt(1 / loaded.size + 1 / max(base.idle, 1))
    return Wait(float(loaded.mean()) - base.rtt_s, error_s, base.rtt_s)


# The buffer of a direction, by what pings take while streams fill it, and what kind of queue that tells.


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
