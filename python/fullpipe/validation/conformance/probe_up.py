"""PROBE_UP and PROBE_REFILL: looking for more bandwidth, and when to stop."""

from collections.abc import Iterator
from math import isnan

from fullpipe.validation.conformance.case import Step, case
from fullpipe.validation.conformance.lab import Lab, ObservedRun, at, loss

_CYCLE = ("ProbeBW_UP", "ProbeBW_REFILL")
_RTT_S = 0.04


def steady(lab: Lab) -> ObservedRun:
    """A flow in a deep buffer, long enough for two probes."""
    return lab.path(9)


def bounded(lab: Lab, **options: object) -> ObservedRun:
    """A flow in a buffer of a third of the BDP, so that probes end in loss and bound what is in flight."""
    return lab.path(9, queue=12, **options)  # type: ignore[arg-type]


@case(
    "A.5",
    "probe-up-plateau",
    "PROBE_UP ends when the bandwidth no longer grows",
    why="In a deep buffer nothing but the missing growth says that there is no more bandwidth.",
    tolerance="One round less or two more than three: a round in which the probe still arrives at the "
    "bottleneck, and rounds are counted at their ends.",
    needs=(*_CYCLE, "round_count"),
)
def plateau(lab: Lab) -> Iterator[Step]:
    """Three rounds, no loss, then PROBE_DOWN."""
    observed = steady(lab)
    start_s, end_s, following = observed.first("ProbeBW_UP")
    rounds = observed.at("round_count", end_s) - observed.at("round_count", start_s)
    yield Step("it lasts three rounds without growth", f"{rounds:.0f} rounds", 2 < rounds <= 6)
    yield Step(
        "nothing is retransmitted",
        f"{observed.retransmitted(0, end_s)} packets",
        observed.retransmitted(0, end_s) == 0,
    )
    yield Step("PROBE_DOWN follows", following or "nothing", following == "ProbeBW_DOWN")


@case(
    "A.6",
    "probe-up-loss",
    "PROBE_UP ends on loss although the application is the limit",
    why="As in STARTUP: loss says that there is too much even where samples say nothing. The "
    "application falls to half of the bandwidth as the probe begins, and 20 % of the packets are "
    "dropped from then on. The draft's pseudo-code leaves inflight_longterm alone if the sample is "
    'limited by the application, so that "updated appropriately" can only mean that it does not '
    "rise. With little in flight, PROBE_DOWN may end with the very ACK that began it.",
    tolerance="Five round trips, as in A.2.",
    needs=(*_CYCLE, "inflight_longterm"),
)
def loss_while_application_limited(lab: Lab) -> Iterator[Step]:
    """PROBE_DOWN within five round trips of the loss."""
    begin_s, _, _ = steady(lab).first("ProbeBW_UP")
    lost_s = begin_s + 0.005
    observed = lab.path(
        begin_s + 2,
        application=[at(lost_s, rate="5 Mbit/s")],
        changes=[at(lost_s, loss=loss(0.2))],
    )
    start_s, end_s, following = observed.first("ProbeBW_UP", begin_s - 1e-6)
    yield Step(
        "it ends within five round trips of the loss",
        f"{1e3 * (end_s - lost_s):.0f} ms later",
        end_s - lost_s <= 5 * _RTT_S,
    )
    down = following in ("ProbeBW_DOWN", "ProbeBW_CRUISE")
    yield Step("PROBE_DOWN follows, or what follows it", following or "nothing", down)
    before, after = observed.at("inflight_longterm", start_s), observed.at("inflight_longterm", end_s + 0.01)
    rises = not isnan(before) and after > before
    yield Step("inflight_longterm does not rise", f"{before:.0f} to {after:.0f} packets", not rises)


@case(
    "A.7",
    "no-exit-while-limited",
    "PROBE_UP and STARTUP go on while the application is the limit and nothing is dropped",
    why="An application that sends little must not make the path look narrow: 30 Mbit/s into 100 "
    "Mbit/s from the beginning, and half of the bandwidth as a probe begins.",
    tolerance='Watched for 3 s and 1.5 s: "indefinitely" ends with the next PROBE_RTT.',
    needs=("Startup",),
)
def application_limited(lab: Lab) -> Iterator[Step]:
    """STARTUP after 3 s, PROBE_UP after 1.5 s."""
    observed = lab.path(3, rate_mbps=100, queue=700, application=[at(0, rate="30 Mbit/s")])
    yield Step("STARTUP goes on for 3 s", observed.path(), observed.state_at(2.98) == "Startup")
    if "ProbeBW_REFILL" not in {name for name, _, _ in steady(lab).states}:
        return  # no such phase
    begin_s, _, _ = steady(lab).first("ProbeBW_UP")
    observed = lab.path(begin_s + 2, application=[at(begin_s + 0.005, rate="5 Mbit/s")])
    _, end_s, following = observed.first("ProbeBW_UP", begin_s - 1e-6)
    on = end_s - begin_s >= 1.5 or following == "ProbeRTT"
    yield Step("PROBE_UP goes on for 1.5 s", f"{end_s - begin_s:.2f} s, then {following or 'the end'}", on)


@case(
    "A.21",
    "probe-up-loss-bounded",
    "Loss in PROBE_UP lowers an inflight_longterm that was set",
    why="The probe has found the limit: it ends at once, and the bound comes down to what was in "
    "flight, but not below 0.7 (Beta) of the target.",
    tolerance="Five round trips, as in A.2; two packets for rounding.",
    needs=(*_CYCLE, "inflight_longterm"),
)
def loss_when_bounded(lab: Lab) -> Iterator[Step]:
    """20 % loss for 150 ms as the second probe begins."""
    before = bounded(lab)
    first_s, _, _ = before.first("ProbeBW_UP")
    begin_s, _, _ = before.first("ProbeBW_UP", first_s + 0.1)
    lost_s = begin_s + 0.005
    observed = bounded(lab, changes=[at(lost_s, loss=loss(0.2)), at(lost_s + 0.15, loss=loss(0))])
    start_s, end_s, following = observed.first("ProbeBW_UP", begin_s - 1e-6)
    bound = observed.at("inflight_longterm", start_s)
    yield Step("inflight_longterm is set before", f"{bound:.0f} packets", not isnan(bound))
    late_s = end_s - lost_s
    yield Step("it ends within five round trips", f"{1e3 * late_s:.0f} ms later", late_s <= 5 * _RTT_S)
    yield Step("PROBE_DOWN follows", following or "nothing", following == "ProbeBW_DOWN")
    after, least = (
        observed.at("inflight_longterm", end_s),
        0.7 * min(observed.bdp(end_s), observed.at("cwnd", start_s)) - 2,
    )
    seen = f"{bound:.0f} to {after:.0f} packets, at least {least:.0f}"
    yield Step("inflight_longterm comes down, not below Beta of the target", seen, least <= after <= bound)


@case(
    "A.22",
    "refill-application-limited",
    "A pause of the application in PROBE_REFILL does not spoil the estimate",
    why="Samples of the pause are low and marked as limited by the application; the maximum must not "
    "take them, and the probe goes on.",
    tolerance="2 % of max_bw, as in A.1.",
    needs=_CYCLE,
)
def pause_in_refill(lab: Lab) -> Iterator[Step]:
    """The application pauses for one round trip as PROBE_REFILL begins."""
    begin_s, _, _ = steady(lab).first("ProbeBW_REFILL")
    observed = lab.path(
        begin_s + 3,
        application=[at(begin_s, rate="0 bit/s"), at(begin_s + _RTT_S)],
    )
    start_s, end_s, following = observed.first("ProbeBW_REFILL", begin_s - 1e-6)
    before = observed.at("max_bw", start_s)
    lowest = float(observed.numbers("max_bw", start_s, end_s)["value"].min() or 0.0)  # type: ignore[arg-type]
    seen = f"{before:.1f}, at least {lowest:.1f} packets/s"
    yield Step("max_bw does not fall", seen, lowest >= 0.98 * before)
    yield Step("PROBE_UP follows", following or "nothing", following == "ProbeBW_UP")
    _, up_s, after = observed.first("ProbeBW_UP", end_s - 1e-6)
    yield Step("that probe ends as any other", f"{after} at {up_s:.2f} s", after == "ProbeBW_DOWN")
