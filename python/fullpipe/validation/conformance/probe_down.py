"""PROBE_DOWN: draining the queue that the probe built."""

from collections.abc import Iterator
from math import isnan

from fullpipe.validation.conformance.case import Step, case
from fullpipe.validation.conformance.lab import Lab, at
from fullpipe.validation.conformance.probe_up import steady

_QUANTISATION = 8
_LONGEST_WAIT_S = 3.0
_CYCLE = ("ProbeBW_DOWN", "ProbeBW_REFILL")


@case(
    "A.8",
    "probe-down-inflight",
    "PROBE_DOWN ends when what is in flight leaves headroom",
    why="The queue of the probe is gone, and some room is left for others.",
    tolerance="0.01 for the gain; 8 packets for the BDP, as in A.3.",
    needs=(*_CYCLE, "ProbeBW_CRUISE", "pacing_gain"),
)
def on_inflight(lab: Lab) -> Iterator[Step]:
    """Gain 0.9, then PROBE_CRUISE within the BDP and the headroom."""
    observed = steady(lab)
    probe_s, _, _ = observed.first("ProbeBW_UP")
    start_s, end_s, following = observed.first("ProbeBW_DOWN", probe_s)
    gain = observed.at("pacing_gain", start_s)
    yield Step("pacing_gain is 0.90", f"{gain:.3f}", abs(gain - 0.9) <= 0.01)
    bound = observed.at("inflight_longterm", end_s)
    target = min(observed.bdp(end_s), float("inf") if isnan(bound) else 0.85 * bound)
    end = observed.in_flight(end_s)
    yield Step(
        "it ends within BDP and headroom", f"{end:.0f} of {target:.0f} packets", end <= target + _QUANTISATION
    )
    yield Step("PROBE_CRUISE follows", following or "nothing", following == "ProbeBW_CRUISE")


@case(
    "A.9",
    "probe-down-time",
    "PROBE_DOWN ends when it is time for the next probe",
    why="If the queue does not drain, waiting for it must not stop the probing. The draft takes 10 % "
    "of the bandwidth away; the pacing margin of 1 % then still drains the queue, slowly, so 40 % "
    "are taken here.",
    tolerance="A tenth of a second on the 3 s that bw_probe_wait may be: it is looked at when ACKs come.",
    needs=_CYCLE,
)
def on_time(lab: Lab) -> Iterator[Step]:
    """The rate falls by 40 % as PROBE_DOWN begins, early enough to be over before PROBE_RTT."""
    normal = lab.path(4, rtt_ms=30)
    probe_s, _, _ = normal.first("ProbeBW_UP")
    begin_s, _, _ = normal.first("ProbeBW_DOWN", probe_s)
    observed = lab.path(begin_s + 5, rtt_ms=30, queue=1000, changes=[at(begin_s, rate="6 Mbit/s")])
    start_s, end_s, following = observed.first("ProbeBW_DOWN", begin_s - 1e-6)
    lasted_s = end_s - start_s
    yield Step("it ends within bw_probe_wait", f"{lasted_s:.2f} s", lasted_s <= _LONGEST_WAIT_S + 0.1)
    lowest = float(observed.series("in_flight_bytes", start_s, end_s).min() or 0) / 1448  # type: ignore[arg-type]
    target = observed.bdp(start_s)
    yield Step(
        "in flight stays above the BDP", f"at least {lowest:.0f} of {target:.0f} packets", lowest > target
    )
    yield Step("PROBE_REFILL follows", following or "nothing", following == "ProbeBW_REFILL")
