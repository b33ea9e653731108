"""PROBE_RTT: when it comes, how low it goes, and when it is not needed."""

from collections.abc import Iterator

from fullpipe.validation.conformance.case import Step, case
from fullpipe.validation.conformance.lab import Lab, ObservedRun, at, rate_pps

_INTERVAL_S = 5.0
_RTT_S = 0.04


def _long(lab: Lab) -> ObservedRun:
    return lab.path(13, interval_ms=10)


@case(
    "A.10",
    "probe-rtt",
    "PROBE_RTT comes every five seconds, drains half of the pipe, and goes",
    why="Without a new minimum for ProbeRTTInterval, the minimum may be one that holds no more. (The "
    "editors' copy after -06 makes it 10 s.)",
    tolerance="0.5 s on the interval, which counts from the last minimum, in the first rounds; two round "
    "trips on the 200 ms, to drain and to see a round; 6 packets on half of the BDP: bursts.",
    needs=("ProbeRTT", "max_bw"),
)
def comes_and_goes(lab: Lab) -> Iterator[Step]:
    """At 5 s, for 200 ms and a round, at half of the BDP, back to PROBE_BW."""
    observed = _long(lab)
    start_s, end_s, following = observed.first("ProbeRTT")
    yield Step("it comes after 5 s", f"at {start_s:.2f} s", abs(start_s - _INTERVAL_S) <= 0.5)
    if observed.has("cwnd_gain"):
        gain = observed.at("cwnd_gain", start_s)
        yield Step("cwnd_gain is 0.5", f"{gain:.2f}", abs(gain - 0.5) <= 0.01)
    bdp = rate_pps(10) * _RTT_S
    low = float(observed.series("in_flight_bytes", start_s, end_s).min() or 0) / 1448  # type: ignore[arg-type]
    half = abs(low - bdp / 2) <= 6
    yield Step("in flight falls to half of the BDP", f"{low:.0f} of {bdp:.0f} packets", half)
    lasted_s = end_s - start_s
    right = 0.2 <= lasted_s <= 0.2 + 4 * _RTT_S
    yield Step("it lasts 200 ms and a round", f"{1e3 * lasted_s:.0f} ms", right)
    yield Step("PROBE_BW follows", following or "nothing", following.startswith("ProbeBW"))
    after = observed.goodput(end_s + 0.3, end_s + 1.5) / rate_pps(10)
    yield Step("sending goes on", f"{after:.0%} of the link", after >= 0.9)


@case(
    "A.11",
    "probe-rtt-skipped",
    "An idle time stands in for PROBE_RTT",
    why="Nothing in flight drains the queue better than PROBE_RTT could. The pause of 11 s is longer "
    "than the interval of any version.",
    tolerance="None.",
    needs=("ProbeRTT", "idle_restart"),
)
def skipped(lab: Lab) -> Iterator[Step]:
    """A pause from 3 s to 14 s."""
    pause_s, back_s = 3.0, 14.0
    observed = lab.path(17, interval_ms=10, application=[at(pause_s, rate="0 bit/s"), at(back_s)])
    low = observed.in_flight(back_s - 0.1)
    yield Step("nothing is in flight in the pause", f"{low:.0f} packets", low == 0)
    flags = observed.numbers("idle_restart", back_s, back_s + 2 * _RTT_S)["value"].to_list()
    yield Step("idle_restart is true after it", f"{flags[:6]}", 1.0 in flags)
    states = {
        name for name, start_s, end_s in observed.states if end_s > pause_s + 0.2 and start_s < back_s + 1
    }
    yield Step("PROBE_RTT is skipped", ", ".join(sorted(states)), "ProbeRTT" not in states)


@case(
    "A.20",
    "probe-rtt-in-startup",
    "After PROBE_RTT, STARTUP goes on if it was not over",
    why="A slow application stretches STARTUP beyond ProbeRTTInterval; leaving PROBE_RTT must not end "
    "the search for the bandwidth.",
    tolerance="None.",
    needs=("Startup", "ProbeRTT"),
)
def in_startup(lab: Lab) -> Iterator[Step]:
    """2 Mbit/s into 10 Mbit/s for 13 s."""
    observed = lab.path(13, interval_ms=10, application=[at(0, rate="2 Mbit/s")])
    start_s, _, following = observed.first("ProbeRTT")
    before = observed.state_at(start_s - 0.001)
    yield Step("STARTUP lasts until PROBE_RTT", f"{before} at {start_s:.2f} s", before == "Startup")
    yield Step("STARTUP follows", following or "nothing", following == "Startup")
