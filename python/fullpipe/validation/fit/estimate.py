"""Estimates of an access line: rate, RTT without a queue, and buffer."""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr

from fullpipe.analysis.statistics.intervals import prediction_limit
from fullpipe.engines.imported.measurement import FEW_EVENTS, FILLING
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

# Rate, round-trip time and buffer, each from the part of a measurement that determines it.


_FEW = 5
"""Minimum number n of pings for a usable standard deviation. For normal values, its relative error is 1 /
sqrt(2 (n - 1)), a third."""
_IDLE, _FASTEST = 0.25, 0.03
"""Quantiles of pings that give the RTT of an empty queue: the first for pings of an idle line, on which other
hosts may send now and then, the second for all pings. The first quantile is a choice: with values up to 0.5,
no RTT of 50 lines changes by 0.1 % or more; with 0.05, one RTT is wrong by 13 %."""
_RISE = 4.0
"""Minimum excess over the mean of idle pings at which a ping counts as queued, in standard deviations of the
noise. By chance, 3 of 100,000 idle pings exceed it (normal)."""
_MOST_QUIET = 1_000
"""Maximum number of pings that are examined, as the work grows with its square. Tests have fewer pings of an
idle line before the load."""
_LEAST_NOISE = 0.01
"""Least relative noise of pings of an idle line."""
_FULL, _FULL_PINGS = 0.98, 2.5
"""Quantile of the pings under load that gives the RTT of a full queue, and the least number of pings above
this quantile. A buffer is full only now and then, just before a loss. A choice: with 0.96 to 1, the buffers
of 57 directions are off by 4.7 to 5.2 % (rms); with 0.9, by 8 %."""
_BUSY = 0.8
"""Quantile of the rates that gives the rate of a busy link. The link must be busy for more than the remaining
20 % of the time. A choice: from 0.5 to 0.9, no rate of 57 changes by more than 0.6 %."""
_LEVEL = 0.07
"""Rates within this share of each other form one level, and the mean of the level counts. A choice: half of
this value changes no rate of 57 by more than 0.9 %. Twice this value changes one rate by 4 %, as the level
then includes rates that other traffic reduced."""
_STARTS_S = 2.0
"""Time that is left out at the start, for connection set-up and slow start. A choice: from 0 to 5 s, no rate
of 57 changes by more than 0.6 %."""
_WINDOW_S, _WINDOW_RTTS = 0.5, 2
"""Shortest time over which rates are averaged, in seconds and in RTTs."""
_DEFAULT_MSS = 1448
_LEFT = 0.05
"""Largest unused share of the line's capacity at which the rate of the line counts as known."""
_SURE = 2.0
"""Distance between a mean and each of its bounds, in standard errors. On each side, the true mean is beyond
the bound 1 time in 44 (normal)."""
_BURST = 3
"""Segments that an ACK releases in one burst: two for a delayed ACK (RFC 9293, section 3.8.6.3) and one by
which the window grows (RFC 5681, section 3.1). A ping that meets such a burst waits for half of it on
average, even if the link is not busy."""


@dataclass(frozen=True)
class Base:
    """The round-trip time without a queue."""

    rtt_s: float
    noise: float
    """Relative noise of pings."""
    idle: int
    """Number of pings of the idle line; 0 if no time is known at which the line was idle."""


def rate_bps(rates: Rates, longest_s: float) -> float:
    """The rate of a busy link, with headers: the level at the upper end of the rates of the streams.

    Args:
        rates: The rates of one direction.
        longest_s: The longest RTT; data behind a lost segment are delivered all at once when the segment was
            retransmitted.
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
    """Mean rates over consecutive intervals, without the start and without intervals in which nothing was
    delivered; the mean of all samples if no interval remains."""
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
    """The RTT of an empty queue: from pings of the idle line, or else from the fastest of all pings."""
    rtts_s = measured.pings.rtts_s
    if measured.least_rtt_s is not None:
        return Base(measured.least_rtt_s, noise_of_steps(rtts_s), 1)
    idle = idle_pings(measured)
    noise = relative_noise(idle) if idle.size else noise_of_steps(rtts_s)
    spread = without_noise(idle if idle.size else rtts_s, noise)
    low = spread.quantile(_IDLE if idle.size else _FASTEST)
    return Base(spread.mean_within(0.0, low * (1 + _LEVEL)), noise, idle.size)


def idle_pings(measured: Measured) -> Floats:
    """The RTTs of pings of the idle line, in the order of time; empty if there are few of these pings, or if
    more than a few other pings are faster.

    With a common clock of pings and rates, these are the pings that returned before the streams began; pings
    after the streams may have met a remaining queue. Without a common clock, they are the first or the last
    pings of the log that differ only by noise.
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
    """The values before the first value that exceeds the mean of all earlier values by more than noise."""
    logs = np.log(rtts_s)
    for end in range(_FEW, min(logs.size, _MOST_QUIET)):
        spread = max(float(logs[:end].std(ddof=1)), _LEAST_NOISE)
        if logs[end] - logs[:end].mean() > _rise(end) * spread:
            return rtts_s[:end]
    return rtts_s[:0]


@cache
def _rise(count: int) -> float:
    """The limit that replaces `_RISE` if mean and standard deviation are estimated from `count` values: the
    quantile of the predictive Student's t distribution with the same probability."""
    return prediction_limit(count, float(ndtr(-_RISE)))


def _is_beaten(stretch: Floats, every: Floats) -> bool:
    """Whether more than a few pings are faster than the pings of a stretch by more than noise."""
    logs = np.log(stretch)
    least = float(np.median(logs)) - _RISE * max(relative_noise(stretch), _LEAST_NOISE)
    return float((np.log(every) < least).mean()) > _FASTEST


def loaded_pings(measured: Measured, rates: Sequence[Rates]) -> Pings:
    """The pings that were sent while streams ran, without their start; all pings if these times are
    unknown."""
    pings = measured.pings
    if not measured.one_clock:
        return pings
    begin_s, end_s = min(of.begin_s for of in rates), max(of.end_s for of in rates)
    inside = (pings.sent_s >= begin_s) & (pings.sent_s <= end_s)
    return Pings(pings.sent_s[inside], pings.rtts_s[inside])


def full_s(loaded: Floats, base: Base) -> float:
    """The RTT while the queue is full: the upper end of the RTTs of pings under load."""
    spread = without_noise(loaded, base.noise)
    return spread.quantile(min(_FULL, 1 - _FULL_PINGS / loaded.size))


@dataclass(frozen=True)
class Wait:
    """Mean RTT of pings under load minus the RTT without a queue."""

    mean_s: float
    error_s: float
    """Standard error of the mean, from the noise of pings and their number."""
    rtt_s: float
    """RTT without a queue."""

    @property
    def least_s(self) -> float:
        """Lower bound of the mean, and so of the queueing delay of a full buffer."""
        return max(self.mean_s - _SURE * self.error_s, 0.0)

    @property
    def most_s(self) -> float:
        """Upper bound of the queueing delay q of a full drop-tail buffer that one Reno flow fills repeatedly.

        Formula: with the base RTT r, the window of Reno rises linearly from (r + q) / 2 to r + q, where
        windows are divided by the rate of the line. The mean delay m is q^2 / (r + q) for q <= r, and
        (3 q - r) / 4 for q > r. The formula is solved for q. The window of CUBIC falls by less, so that its
        mean delay is longer.
        """
        mean_s = max(self.mean_s + _SURE * self.error_s, 0.0)
        if mean_s > self.rtt_s / 2:
            return (4 * mean_s + self.rtt_s) / 3
        return (mean_s + math.sqrt(mean_s * (mean_s + 4 * self.rtt_s))) / 2

    def is_filled(self, rate_bps: float) -> bool:
        """Whether the standing queue that pings met shows that at most `_LEFT` of the line's capacity
        was unused.

        Formula: with the window of `most_s`, and q in RTTs, the mean unused share of the line is
        (1 - q)^2 / (4 (1 + q)) over times longer than the period of the window. Bursts cause delays without a
        standing queue, so that their mean delay is subtracted.
        """
        q = 1 + 2 * _LEFT - math.sqrt(8 * _LEFT + 4 * _LEFT**2)
        return self.least_s > q**2 / (1 + q) * self.rtt_s + _burst_s(rate_bps)

    def is_seen(self, rate_bps: float) -> bool:
        """Whether the queueing delay of pings exceeds the queueing delay that bursts cause."""
        return self.least_s > _burst_s(rate_bps)


def _burst_s(rate_bps: float) -> float:
    """Mean queueing delay of a ping that meets a burst."""
    return _BURST / 2 * (_DEFAULT_MSS + HEADERS_BYTES) * 8 / rate_bps


def wait_of(loaded: Floats, base: Base) -> Wait:
    """The mean queueing delay of pings under load.

    Args:
        loaded: RTTs of these pings, shape (n,), at least one RTT.
        base: The RTT without a queue.
    """
    error_s = base.noise * base.rtt_s * math.sqrt(1 / loaded.size + 1 / max(base.idle, 1))
    return Wait(float(loaded.mean()) - base.rtt_s, error_s, base.rtt_s)


# The buffer of a direction and the kind of its queue, from the RTTs of pings while streams fill the buffer.


_SEEN = 2.0
"""Least visible rise of an RTT, in standard deviations of the noise of a ping; by chance, one ping in 44
exceeds it (normal)."""
_EARLY_S, _LATE_S = 3.0, 8.0
"""End of the early and start of the late time, after the start of the load. Slow start overfills a queue in
the early time, and queue management has shortened the queue in the late time."""
_OVERSHOOT = 2.0
"""Smallest ratio of early to late queueing delay that shows a managed queue. In a FIFO queue both are about
equal."""
_SHORT_S = 2 * 0.015
"""Upper bound of the queueing delay in a managed queue: twice the target of PIE (RFC 8033), which exceeds the
target of CoDel."""
_COARSE = 0.05
"""Largest share of the queueing delay that one packet may take; with a larger share, the delay is too coarse,
because the delay of a full buffer is known only to within one packet."""
_NEAR, _SELDOM = 0.8, 0.05
"""An RTT is near the longest RTT if its queueing delay is at least the first share of the longest queueing
delay. If fewer than the second share of pings are near the longest RTT, the full buffer may be chance."""
_PACKET_BITS = 1514 * 8
_PER_FLOW, _MANAGED = "fq_codel", "codel"
"""Queues that represent all queues of their kind."""


@dataclass(frozen=True)
class Buffer:
    """Estimates of a buffer."""

    full_s: float
    """RTT at the greatest observed fill of the buffer."""
    wait_s: float | None
    """Queueing delay of a full buffer; None if unknown."""
    told: str
    is_least: bool = False
    """Whether the estimate is only a lower bound, because the delay or the kind of the queue is unknown."""
    least_s: float = 0.0
    """Lower bound of the queueing delay of a full buffer."""
    most_s: float | None = None
    """Upper bound of the queueing delay of a full drop-tail buffer; None if unknown."""
    stands_for: str = ""
    """Queue that represents the unknown queue; empty if no queue does."""


def buffer_of(measured: Measured, way: Way, base: Base, rate_bps: float) -> Buffer:
    """The buffer of a direction.

    With streams in both directions at the same time, the two queues fill in turn (see
    `engines.flent.limits`), and the delay that pings met in both queues is taken for the delay of this
    buffer.
    """
    rates = measured.rates[way]
    loaded = loaded_pings(measured, [rates])
    if not loaded.rtts_s.size:
        told = "no ping was sent while streams ran, so the buffer is unknown"
        return Buffer(base.rtt_s, None, told, is_least=True)
    full = full_s(loaded.rtts_s, base)
    wait_s = full - base.rtt_s
    short = rates.ccas - FILLING
    if rates.ccas and short == rates.ccas:
        told = f"{', '.join(sorted(short))} may keep queues short; only algorithms that fill them show a size"
        return Buffer(full, None, told, is_least=True)
    wait = wait_of(loaded.rtts_s, base)
    hidden_s = _SEEN * base.noise * base.rtt_s
    if wait_s < hidden_s or not wait.is_filled(rate_bps):
        is_timed = measured.one_clock and not measured.has_unsure
        return _not_known(full, wait, rate_bps, hidden_s, is_timed=is_timed)
    if measured.one_clock and (first_s := _overshoot_s(measured, way, base, wait_s)):
        told = (
            f"pings took {first_s * 1e3:.3g} ms longer at first, and at most {wait_s * 1e3:.3g} ms longer"
            f" later: a managed queue, represented by {_MANAGED}; its buffer holds at least the first delay"
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
    told = f"{wait_s * 1e3:.4g} ms, the longest queueing delay of pings, without noise; taken for drop-tail"
    doubts = []
    if wait_s < _SHORT_S:
        doubts.append(
            "a managed queue (CoDel, PIE) keeps delays as short; it cannot be told from a small buffer"
        )
    if coarse:
        doubts.append(f"one packet takes more than {_COARSE:.0%} of this delay")
    if _is_seldom_full(loaded, base, full):
        doubts.append("the buffer was seldom full")
    if resent is not None and resent < FEW_EVENTS:
        doubts.append(f"{resent} segments were retransmitted")
    if measured.has_unsure:
        doubts.append("part of the time, all RTTs are of flows that may never have met an empty queue")
    if not measured.one_clock and len(measured.rates) > 1:
        doubts.append("pings and rates have no common clock, so the buffer may be of either direction")
    if measured.both_at_once:
        doubts.append(
            "both directions were busy at the same time, and pings waited in both queues; see `fullpipe twin`"
        )
    if not ccas:
        told += "; the algorithm is unknown, and taken for one that fills buffers, such as CUBIC"
    if doubts:
        return Buffer(full, wait_s, f"at least {told}; {'; '.join(doubts)}", is_least=True)
    return Buffer(full, wait_s, told)


def _not_known(full: float, wait: Wait, rate_bps: float, hidden_s: float, *, is_timed: bool) -> Buffer:
    """A buffer in which pings had almost no queueing delay.

    The mean delay of the pings gives no upper bound in two cases. Without a common clock, some of these pings
    may have been sent while the line was idle. If pings may never have met an empty queue, their queueing
    delay may be longer than the RTTs show.
    """
    most_s = wait.most_s if is_timed else None
    between = f"at least {wait.least_s * 1e3:.2g} ms"
    if most_s is not None:
        packets = most_s * rate_bps / _PACKET_BITS
        between = f"{wait.least_s * 1e3:.2g} to {most_s * 1e3:.2g} ms, {packets:.2g} packets at most"
    limits = f"a drop-tail buffer that one flow filled repeatedly holds {between}"
    if full - wait.rtt_s < hidden_s or not wait.is_seen(rate_bps):
        told = (
            "pings took no longer under load than noise and bursts explain: queues per flow, represented by"
            f" {_PER_FLOW}, a managed queue, a small buffer, or a load that never filled the line;"
        )
        return Buffer(full, None, f"{told} {limits}", True, wait.least_s, most_s, _PER_FLOW)
    about_s = min(max(full - wait.rtt_s, wait.least_s), math.inf if most_s is None else most_s)
    told = f"about {about_s * 1e3:.2g} ms, which a managed queue (CoDel, PIE) would keep, too; {limits}"
    return Buffer(full, about_s, told, True, wait.least_s, most_s)


def _is_seldom_full(loaded: Floats, base: Base, full: float) -> bool:
    spread = without_noise(loaded, base.noise)
    near_s = base.rtt_s + _NEAR * (full - base.rtt_s)
    return float(spread.shares[spread.values >= near_s].sum()) < _SELDOM


def _overshoot_s(measured: Measured, way: Way, base: Base, wait_s: float) -> float:
    """Excess RTT of pings just after the start, if it shows a managed queue; else 0."""
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
