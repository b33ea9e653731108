"""Spurious losses: packets that loss recovery took for lost arrive after all."""

from collections.abc import Iterator
from math import isnan

from fullpipe.validation.conformance.case import Step, case
from fullpipe.validation.conformance.lab import Lab, ObservedRun, at
from fullpipe.validation.conformance.probe_up import steady

_RTT_S = 0.04
_WINDOW = 150
"""Packets that the receiver has room for: more than a BBR wants, and less than the buffer, so that nothing is
lost behind an algorithm that fills buffers."""
_BOUNDS = ("bw_shortterm", "inflight_shortterm", "inflight_longterm")


def _moment(lab: Lab) -> float:
    """A time in the middle of PROBE_CRUISE, or 2 s for an algorithm without it."""
    observed = steady(lab)
    spans = [(a, b) for name, a, b in observed.states if name == "ProbeBW_CRUISE" and a > 1 and b - a > 0.2]
    return sum(spans[0]) / 2 if spans else 2.0


def _restored(observed: ObservedRun, before_s: float, after_s: float) -> Iterator[Step]:
    """The bounds are as they were. One that is not set is NaN."""
    for name in _BOUNDS:
        if observed.has(name) or observed.has("inflight_longterm"):
            before, after = observed.at(name, before_s), observed.at(name, after_s)
            same = isnan(after) if isnan(before) else after >= before - 1
            yield Step(f"{name} is restored", f"{before:.0f}, then {after:.0f} (nan: not set)", same)


def _recoveries(observed: ObservedRun, start_s: float, end_s: float) -> set[str]:
    return set(observed.series("state", start_s, end_s))


@case(
    "A.18",
    "spurious-recovery",
    "A spurious fast recovery is undone",
    why="One packet is overtaken by 30 ms, three quarters of the round trip, and marked lost; a "
    "duplicate acknowledgement (RFC 2883) then proves that it was not.",
    tolerance="Ten round trips for the proof and its effect.",
    needs=(),
)
def fast_recovery(lab: Lab) -> Iterator[Step]:
    """One packet is reordered in PROBE_CRUISE."""
    late_s = _moment(lab)
    observed = _reordered(lab, late_s)
    seen = _recoveries(observed, late_s, late_s + 0.4)
    yield Step("fast recovery begins", ", ".join(sorted(seen)), "recovery" in seen)
    yield Step("nothing was dropped", f"{observed.dropped()} packets", observed.dropped() == 0)
    yield from _restored(observed, late_s, late_s + 0.4)
    share = observed.goodput(late_s + 0.4, late_s + 1.5) / observed.goodput(late_s - 0.4, late_s)
    yield Step("sending goes on as before", f"{share:.0%}", share >= 0.95)
    yield from _probe_resumed(lab)


def _probe_resumed(lab: Lab) -> Iterator[Step]:
    """The same as a probe begins, if there are probes: it goes on, or begins anew."""
    probes = [a for name, a, _ in steady(lab).states if name == "ProbeBW_UP"]
    if not probes or "ProbeBW_REFILL" not in {name for name, _, _ in steady(lab).states}:
        return
    # With the same receive window, which decides about the first ACKs, and so when a probe begins.
    up_s = lab.path(probes[0] + 2, receive_packets=_WINDOW).first("ProbeBW_UP", 0)[0]
    late_s = up_s + 0.02
    observed = _reordered(lab, late_s)
    path = [name for name, a, b in observed.states if b > late_s and a < late_s + 10 * _RTT_S]
    resumed = path[0] == "ProbeBW_UP" and (
        len(path) == 1 or "ProbeBW_REFILL" in path or "ProbeBW_UP" in path[1:]
    )
    waited = observed.first("ProbeBW_UP", up_s)[1] - late_s >= 3 * _RTT_S
    yield Step("a probe goes on, or begins anew", " -> ".join(path), resumed or waited)


def _reordered(lab: Lab, late_s: float) -> ObservedRun:
    """One packet takes 30 ms longer."""
    window = {"from": f"{late_s:.6f} s", "until": f"{late_s + 0.002:.6f} s"}
    return lab.path(late_s + 2, receive_packets=_WINDOW, reordering={"every": 1, "extra": "30 ms", **window})


@case(
    "A.19",
    "spurious-timeout",
    "A spurious retransmission timeout is undone",
    why="The path stands still for 0.9 s, longer than the timeout, and then delivers everything: RFC "
    "5682 finds that nothing was dropped. A delay stands for the draft's reordering, which cannot be "
    "longer than a timeout without one.",
    tolerance="A second for the queue to drain and the proof to come.",
    needs=(),
)
def timeout(lab: Lab) -> Iterator[Step]:
    """Nothing is transmitted for 0.9 s in PROBE_CRUISE."""
    still_s = _moment(lab)
    observed = lab.path(
        still_s + 4,
        receive_packets=_WINDOW,
        changes=[at(still_s, rate="0 bit/s"), at(still_s + 0.9, rate="10 Mbit/s")],
    )
    seen = _recoveries(observed, still_s, still_s + 1.5)
    yield Step("the timeout fires", ", ".join(sorted(seen)), "loss" in seen)
    yield Step("nothing was dropped", f"{observed.dropped()} packets", observed.dropped() == 0)
    yield from _restored(observed, still_s, still_s + 2)
    share = observed.goodput(still_s + 2, still_s + 3.5) / observed.goodput(still_s - 0.4, still_s)
    yield Step("sending goes on as before", f"{share:.0%}", share >= 0.9)
