"""DRAIN: how it empties the queue that STARTUP built, and when it gives up."""

from collections.abc import Iterator

from fullpipe.validation.conformance.case import Step, case
from fullpipe.validation.conformance.lab import Lab, at

_QUANTISATION = 8
"""Packets: BBRInflight() rounds up to a few bursts, and a sample is up to 5 ms, four packets, old."""


@case(
    "A.3",
    "drain-inflight",
    "DRAIN ends when what is in flight fits the path",
    why="With the queue of STARTUP gone, in flight is one BDP, and cruising can begin.",
    tolerance="0.01 for the gain, which implementations keep in fixed point; 8 packets for the BDP: bursts, "
    "and four packets that leave between two samples.",
    needs=("Drain", "pacing_gain", "max_bw"),
)
def on_inflight(lab: Lab) -> Iterator[Step]:
    """Gain 0.5, then PROBE_BW at one BDP."""
    observed = lab.path(3)
    start_s, end_s, following = observed.first("Drain")
    gain = observed.at("pacing_gain", start_s)
    yield Step("pacing_gain is 0.5", f"{gain:.3f}", abs(gain - 0.5) <= 0.01)
    bdp = observed.bdp(end_s)
    begin, end = observed.in_flight(start_s), observed.in_flight(end_s)
    yield Step("it begins above the BDP", f"{begin:.0f} of {bdp:.0f} packets", begin > bdp)
    yield Step("it ends at the BDP", f"{end:.0f} of {bdp:.0f} packets", end <= bdp + _QUANTISATION)
    yield Step("PROBE_BW follows", following or "nothing", following.startswith("ProbeBW"))


@case(
    "A.4",
    "drain-time",
    "DRAIN ends after three rounds even if the queue stays",
    why="Where the bandwidth was overestimated, half of it may still be more than the path carries, "
    "and DRAIN would never end. The draft takes 10 % of the bandwidth away as DRAIN begins; at a "
    "gain of 0.5 the queue drains all the same, so three quarters are taken here.",
    tolerance="One round more than three, because rounds are counted at their ends.",
    needs=("Drain", "round_count", "max_bw"),
)
def on_time(lab: Lab) -> Iterator[Step]:
    """The rate falls to a quarter as DRAIN begins."""
    start_s, _, _ = lab.path(3).first("Drain")
    observed = lab.path(6, queue=1000, changes=[at(start_s, rate="2.5 Mbit/s")])
    start_s, end_s, following = observed.first("Drain")
    rounds = observed.at("round_count", end_s) - observed.at("round_count", start_s)
    yield Step(
        "it ends after three rounds", f"{rounds:.0f} rounds, {end_s - start_s:.2f} s", 3 <= rounds <= 4
    )
    bdp, end = observed.bdp(end_s), observed.in_flight(end_s)
    yield Step("in flight is still above the BDP", f"{end:.0f} of {bdp:.0f} packets", end > bdp)
    yield Step("PROBE_BW follows", following or "nothing", following.startswith("ProbeBW"))
