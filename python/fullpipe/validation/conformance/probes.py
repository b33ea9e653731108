"""Cases of ProbeBW and ProbeRTT."""

from collections.abc import Iterator
from math import isnan

from fullpipe.validation.conformance.lab import Lab, ObservedRun, Step, at, case, loss, rate_pps

# PROBE_UP and PROBE_REFILL: the search for more bandwidth, and its end.


_UP_THEN_REFILL = ("ProbeBW_UP", "ProbeBW_REFILL")
_RTT_S = 0.04


def steady(lab: Lab) -> ObservedRun:
    """A flow in a deep buffer, long enough for two probes."""
    return lab.path(9)


def bounded(lab: Lab, **options: object) -> ObservedRun:
    """A flow in a buffer of a third of the BDP, so that probes end in loss, which sets a bound on the packets
    in flight."""
    return lab.path(9, queue=12, **options)  # type: ignore[arg-type]


@case(
    "A.5",
    "probe-up-plateau",
    "PROBE_UP ends when the bandwidth no longer grows",
    why="In a deep buffer, only missing growth shows that there is no more bandwidth.",
    tolerance="Three to six rounds instead of three: the probe needs a round to reach the bottleneck, and "
    "rounds are counted at their ends.",
    needs=(*_UP_THEN_REFILL, "round_count"),
)
def plateau(lab: Lab) -> Iterator[Step]:
    """PROBE_UP lasts three rounds without loss, then PROBE_DOWN follows."""
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
    why="As in STARTUP, loss shows that too much is sent, even if samples show nothing. The "
    "application falls to half of the bandwidth as the probe begins, and 20 % of the packets are "
    "dropped from then on. The draft's pseudo-code leaves inflight_longterm alone if the sample is "
    'limited by the application, so that "updated appropriately" can only mean that it does not '
    "rise. With little in flight, PROBE_DOWN may end with the very ACK that began it.",
    tolerance="Five round trips, as in A.2.",
    needs=(*_UP_THEN_REFILL, "inflight_longterm"),
)
def loss_while_application_limited(lab: Lab) -> Iterator[Step]:
    """PROBE_DOWN begins within five round trips of the loss."""
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
    yield Step("PROBE_DOWN follows, or the phase after it", following or "nothing", down)
    before, after = observed.at("inflight_longterm", start_s), observed.at("inflight_longterm", end_s + 0.01)
    rises = not isnan(before) and after > before
    yield Step("inflight_longterm does not rise", f"{before:.0f} to {after:.0f} packets", not rises)


@case(
    "A.7",
    "no-exit-while-limited",
    "PROBE_UP and STARTUP go on while the application is the limit and nothing is dropped",
    why="An application that sends little must not lower the estimate of the bandwidth. It sends 30 "
    "Mbit/s into 100 Mbit/s from the beginning, and then half of the bandwidth as a probe begins.",
    tolerance='Watched for 3 s and 1.5 s: "indefinitely" ends with the next PROBE_RTT.',
    needs=("Startup",),
)
def application_limited(lab: Lab) -> Iterator[Step]:
    """An application-limited flow stays in STARTUP for 3 s, or in PROBE_UP for 1.5 s if limited there."""
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
    why="The probe has found the limit: it ends immediately, and the bound falls to the data "
    "in flight, but not below 0.7 (Beta) of the target.",
    tolerance="Five round trips, as in A.2; two packets for rounding.",
    needs=(*_UP_THEN_REFILL, "inflight_longterm"),
)
def loss_when_bounded(lab: Lab) -> Iterator[Step]:
    """The path loses 20 % of the packets for 150 ms when the second probe begins."""
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
    yield Step("inflight_longterm falls, but not below Beta times the target", seen, least <= after <= bound)


@case(
    "A.22",
    "refill-application-limited",
    "A pause of the application in PROBE_REFILL does not spoil the estimate",
    why="Samples of the pause are low and marked as limited by the application. The maximum must "
    "ignore these samples, and the probe goes on.",
    tolerance="2 % of max_bw, as in A.1.",
    needs=_UP_THEN_REFILL,
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
    yield Step("this probe ends like any other", f"{after} at {up_s:.2f} s", after == "ProbeBW_DOWN")


# PROBE_DOWN: draining the queue that the probe built.


_QUANTISATION = 8
_LONGEST_WAIT_S = 3.0
_DOWN_THEN_REFILL = ("ProbeBW_DOWN", "ProbeBW_REFILL")


@case(
    "A.8",
    "probe-down-inflight",
    "PROBE_DOWN ends when what is in flight leaves headroom",
    why="The queue of the probe is empty, and some capacity is left for other flows.",
    tolerance="0.01 for the gain; 8 packets for the BDP, as in A.3.",
    needs=(*_DOWN_THEN_REFILL, "ProbeBW_CRUISE", "pacing_gain"),
)
def on_inflight(lab: Lab) -> Iterator[Step]:
    """The pacing gain is 0.9; PROBE_CRUISE follows when the data in flight is within the BDP and the
    headroom."""
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
    why="If the queue does not drain, waiting for it must not stop the probing. The draft reduces the "
    "bandwidth by 10 %. The pacing margin of 1 % then still drains the queue slowly, so this test "
    "reduces the bandwidth by 40 %.",
    tolerance="0.1 s on the 3 s that bw_probe_wait may last: the time is checked when ACKs arrive.",
    needs=_DOWN_THEN_REFILL,
)
def on_time(lab: Lab) -> Iterator[Step]:
    """The link rate falls by 40 % when PROBE_DOWN begins. PROBE_DOWN begins early enough to end before
    PROBE_RTT."""
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


# PROBE_RTT: when it begins, how long it lasts, its congestion window, and when it is skipped.


_INTERVAL_S = 5.0


def _long(lab: Lab) -> ObservedRun:
    return lab.path(13, interval_ms=10)


@case(
    "A.10",
    "probe-rtt",
    "PROBE_RTT begins every five seconds, drains half of the path, and ends",
    why="If the RTT had no new minimum for ProbeRTTInterval, the old minimum may be out of date. (The "
    "editors' copy after -06 sets the interval to 10 s.)",
    tolerance="0.5 s on the interval, which counts from the last minimum, in the first rounds; four round "
    "trips on the 200 ms, to drain and to count a round; 6 packets on half of the BDP, for bursts.",
    needs=("ProbeRTT", "max_bw"),
)
def comes_and_goes(lab: Lab) -> Iterator[Step]:
    """PROBE_RTT begins at 5 s, lasts 200 ms and a round at half of the BDP, and returns to PROBE_BW."""
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
    why="An idle time drains the queue better than PROBE_RTT could. The pause of 11 s is longer "
    "than the interval of any version.",
    tolerance="None.",
    needs=("ProbeRTT", "idle_restart"),
)
def skipped(lab: Lab) -> Iterator[Step]:
    """The application writes nothing from 3 s to 14 s."""
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
    why="With a slow application, STARTUP lasts longer than ProbeRTTInterval. The end of PROBE_RTT must not "
    "end the search for the bandwidth.",
    tolerance="None.",
    needs=("Startup", "ProbeRTT"),
)
def in_startup(lab: Lab) -> Iterator[Step]:
    """The application writes 2 Mbit/s to a link of 10 Mbit/s for 13 s."""
    observed = lab.path(13, interval_ms=10, application=[at(0, rate="2 Mbit/s")])
    start_s, _, following = observed.first("ProbeRTT")
    before = observed.state_at(start_s - 0.001)
    yield Step("STARTUP lasts until PROBE_RTT", f"{before} at {start_s:.2f} s", before == "Startup")
    yield Step("STARTUP follows", following or "nothing", following == "Startup")
