"""Cases of Startup and Drain."""

from collections.abc import Iterator

from fullpipe.validation.conformance.lab import Lab, Step, at, case, loss, rate_pps

# STARTUP: conditions under which it ends, and under which it must not end.


_LOSS_FROM_S = 1.5


@case(
    "A.1",
    "startup-plateau",
    "STARTUP ends when the bandwidth no longer grows",
    why="Three rounds without growth mean that the path is full; a fourth round only fills the buffer.",
    tolerance="2 % of the bandwidth, as the draft says; one round more than three, because rounds are "
    "counted at their ends.",
    needs=("Startup", "Drain", "max_bw"),
)
def plateau(lab: Lab) -> Iterator[Step]:
    """The estimate reaches the bandwidth within 2 %, three rounds follow, then DRAIN begins."""
    observed = lab.path(3)
    _, end_s, following = observed.first("Startup")
    bandwidth, link = observed.at("max_bw", end_s), rate_pps(10)
    yield Step(
        "max_bw is within 2 % of the link",
        f"{bandwidth:.1f} of {link:.1f} packets/s",
        abs(bandwidth / link - 1) <= 0.02,
    )
    grown = observed.numbers("max_bw", 0, end_s)
    full_s = float(grown.filter(grown["value"] >= 0.8 * bandwidth)["time_s"][0])
    if observed.has("round_count"):
        rounds = observed.at("round_count", end_s) - observed.at("round_count", full_s)
        yield Step("three rounds with less than 25 % growth", f"{rounds:.0f} rounds", 3 <= rounds <= 4)
    if observed.has("full_bw_reached"):
        flags = observed.at("full_bw_reached", end_s - 0.006), observed.at("full_bw_reached", end_s)
        yield Step(
            "full_bw_reached becomes true as STARTUP ends", f"{flags[0]:.0f}, {flags[1]:.0f}", flags == (0, 1)
        )
    yield Step("DRAIN follows", following or "nothing", following == "Drain")


@case(
    "A.2",
    "startup-loss",
    "STARTUP ends on loss although the application is the limit",
    why="Samples limited by the application do not show the bandwidth, but loss shows that too much is "
    "sent. 30 Mbit/s are sent into 100 Mbit/s; 20 % of the packets are dropped from 1.5 s on, "
    "about 20 per round. With little in flight, DRAIN may end with the very ACK that began it.",
    tolerance="Five round trips: one until packets are lost, one until the sender detects the loss, one to "
    "count the round, and two until retransmissions have filled the holes.",
    needs=("Startup", "Drain", "inflight_longterm"),
)
def loss_while_application_limited(lab: Lab) -> Iterator[Step]:
    """STARTUP does not end before the loss; DRAIN begins within five round trips after the loss."""
    observed = lab.path(
        3,
        rate_mbps=100,
        queue=700,
        application=[at(0, rate="30 Mbit/s")],
        changes=[at(_LOSS_FROM_S, loss=loss(0.2))],
    )
    _, end_s, following = observed.first("Startup")
    yield Step("STARTUP lasts until packets are dropped", f"it ends at {end_s:.3f} s", end_s > _LOSS_FROM_S)
    yield Step(
        "it ends within five round trips of the loss",
        f"{1e3 * (end_s - _LOSS_FROM_S):.0f} ms later",
        0 < end_s - _LOSS_FROM_S <= 5 * 0.04,
    )
    reached = observed.at("full_bw_reached", end_s)
    yield Step("full_bw_reached is true", f"{reached:.0f}", reached == 1)
    drained = following == "Drain" or following.startswith("ProbeBW")
    yield Step("DRAIN follows, or the phase after it", following or "nothing", drained)


@case(
    "A.12",
    "startup-aggregation",
    "STARTUP finds the bandwidth behind aggregated ACKs",
    why="Cellular and wireless links hold ACKs back and deliver them in batches, here every 20 ms "
    "on a path of 40 ms. The window must cover the time between two batches.",
    tolerance="5 % below the rate of the link, for the samples' granularity; up to 50 % above it: a sample "
    "of a round spans two batches at least, and may hold one more, because the ACKs of a batch come at the "
    "same time.",
    needs=("Startup", "max_bw", "extra_acked"),
)
def aggregation(lab: Lab) -> Iterator[Step]:
    """extra_acked is above zero, the window is above two BDP, and the flow finds the bandwidth."""
    observed = lab.path(4, rate_mbps=50, queue=1000, ack_batch_ms=20)
    _, end_s, _ = observed.first("Startup")
    bandwidth, link = observed.at("max_bw", end_s), rate_pps(50)
    yield Step(
        "max_bw is the bandwidth of the link when STARTUP ends",
        f"{bandwidth:.0f} of {link:.0f} packets/s",
        0.95 <= bandwidth / link <= 1.5,
    )
    extra = observed.at("extra_acked", end_s)
    yield Step("extra_acked is above zero", f"{extra:.0f} packets", extra > 0)
    window, bdp = observed.at("cwnd", end_s - 0.006), link * 0.04
    yield Step("cwnd is above twice the BDP", f"{window:.0f} of {2 * bdp:.0f} packets", window > 2 * bdp)


# DRAIN: how it empties the queue that STARTUP built, and when it ends although the queue is not empty.


_QUANTISATION = 8
"""Tolerance in packets: BBRInflight() rounds up to a few bursts, and a sample is up to 5 ms (four packets)
old."""


@case(
    "A.3",
    "drain-inflight",
    "DRAIN ends when what is in flight fits the path",
    why="When the queue of STARTUP is empty, one BDP is in flight, and cruising can begin.",
    tolerance="0.01 for the gain, which implementations keep in fixed point; 8 packets for the BDP: bursts, "
    "and four packets that leave between two samples.",
    needs=("Drain", "pacing_gain", "max_bw"),
)
def on_inflight(lab: Lab) -> Iterator[Step]:
    """The pacing gain is 0.5; PROBE_BW begins at one BDP in flight."""
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
    why="If the bandwidth was overestimated, half of the estimate may still be more than the path "
    "carries, and DRAIN would never end. The draft reduces the bandwidth by 10 % as DRAIN begins. At a "
    "gain of 0.5 the queue still drains, so this test reduces the bandwidth by 75 %.",
    tolerance="One round more than three, because rounds are counted at their ends.",
    needs=("Drain", "round_count", "max_bw"),
)
def on_time(lab: Lab) -> Iterator[Step]:
    """The link rate falls to a quarter when DRAIN begins."""
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
