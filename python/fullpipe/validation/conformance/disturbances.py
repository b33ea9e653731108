"""Cases of losses and of paths that change."""

from collections.abc import Iterator
from math import isnan

from fullpipe.validation.conformance.lab import Lab, ObservedRun, Step, at, case, rate_pps
from fullpipe.validation.conformance.probes import steady

# Spurious losses: packets that were marked lost arrive after all.


_RTT_S = 0.04
_WINDOW = 150
"""Receive window in packets: larger than the window of BBR, and smaller than the buffer, so that algorithms
that fill buffers lose no packets."""
_BOUNDS = ("bw_shortterm", "inflight_shortterm", "inflight_longterm")


def _moment(lab: Lab) -> float:
    """A time in the middle of PROBE_CRUISE, or 2 s for an algorithm without PROBE_CRUISE."""
    observed = steady(lab)
    spans = [(a, b) for name, a, b in observed.states if name == "ProbeBW_CRUISE" and a > 1 and b - a > 0.2]
    return sum(spans[0]) / 2 if spans else 2.0


def _restored(observed: ObservedRun, before_s: float, after_s: float) -> Iterator[Step]:
    """Steps which require that the bounds are restored. A bound that is not set is NaN."""
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
    "duplicate acknowledgement (RFC 2883) then proves that the packet was not lost.",
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
    yield Step("the goodput is as before", f"{share:.0%}", share >= 0.95)
    yield from _probe_resumed(lab)


def _probe_resumed(lab: Lab) -> Iterator[Step]:
    """One packet is reordered at the start of a probe, if there are probes: the probe continues or
    restarts."""
    probes = [a for name, a, _ in steady(lab).states if name == "ProbeBW_UP"]
    if not probes or "ProbeBW_REFILL" not in {name for name, _, _ in steady(lab).states}:
        return
    # The start of the probe is measured with the same receive window as in the test, as the window affects
    # the first ACKs, and thereby the start of the probe.
    up_s = lab.path(probes[0] + 2, receive_packets=_WINDOW).first("ProbeBW_UP", 0)[0]
    late_s = up_s + 0.02
    observed = _reordered(lab, late_s)
    path = [name for name, a, b in observed.states if b > late_s and a < late_s + 10 * _RTT_S]
    resumed = path[0] == "ProbeBW_UP" and (
        len(path) == 1 or "ProbeBW_REFILL" in path or "ProbeBW_UP" in path[1:]
    )
    waited = observed.first("ProbeBW_UP", up_s)[1] - late_s >= 3 * _RTT_S
    yield Step("the probe continues or restarts", " -> ".join(path), resumed or waited)


def _reordered(lab: Lab, late_s: float) -> ObservedRun:
    """One packet takes 30 ms longer."""
    window = {"from": f"{late_s:.6f} s", "until": f"{late_s + 0.002:.6f} s"}
    return lab.path(late_s + 2, receive_packets=_WINDOW, reordering={"every": 1, "extra": "30 ms", **window})


@case(
    "A.19",
    "spurious-timeout",
    "A spurious retransmission timeout is undone",
    why="The path delivers nothing for 0.9 s, longer than the timeout, and then delivers everything: RFC "
    "5682 finds that nothing was dropped. The delay replaces the draft's reordering: a reordering "
    "longer than a timeout would be a delay, too.",
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
    yield Step("the goodput is as before", f"{share:.0%}", share >= 0.9)


# Paths that are unusual or change: aggregation, tiny BDPs, ten times more or less bandwidth, policers.


_CHANGE_S = 6.0
"""Time of the change: a second after PROBE_RTT, which resets the short-term bounds."""


def _cruising(observed: ObservedRun, after_s: float) -> list[tuple[float, float]]:
    """Stays in PROBE_CRUISE that begin after a time; for an algorithm without phases, all time from then
    on."""
    spans = [(a, b) for name, a, b in observed.states if name == "ProbeBW_CRUISE" and a >= after_s]
    return spans or [(after_s, observed.run.meta.duration_s)]


@case(
    "A.13",
    "cruise-aggregation",
    "PROBE_CRUISE keeps the link busy behind aggregated ACKs",
    why="As in A.12, but for the window in steady state: extra_acked is added to the window, so that the "
    "sender has data to send between two batches.",
    tolerance="95 % of the link for full utilisation: the pacing margin takes 1 %, the headers are counted "
    "in, and the batches of 20 ms cut samples at both ends.",
    needs=(),
)
def aggregation(lab: Lab) -> Iterator[Step]:
    """The receiver sends ACKs every 20 ms on a path with an RTT of 40 ms."""
    observed = lab.path(8, rate_mbps=50, queue=1000, ack_batch_ms=20)
    spans = _cruising(observed, 1.5)
    busy = [observed.goodput(a, b) / rate_pps(50) for a, b in spans if b - a > 0.1]
    share = sum(busy) / max(1, len(busy))
    yield Step("the link is fully used", f"{share:.1%}", share >= 0.95)
    if observed.has("extra_acked") and observed.has("cwnd") and observed.has("max_bw"):
        time_s = (spans[0][0] + spans[0][1]) / 2
        extra, window, bdp = (
            observed.at("extra_acked", time_s),
            observed.at("cwnd", time_s),
            observed.bdp(time_s),
        )
        yield Step("extra_acked is above zero", f"{extra:.0f} packets", extra > 0)
        seen = f"{window:.0f} of {2 * bdp:.0f} + {extra:.0f} packets"
        yield Step("cwnd is two BDP and extra_acked", seen, window >= 2 * bdp + 0.9 * extra)


@case(
    "A.14",
    "tiny-bdp",
    "A BDP below one packet is used, with a window of four",
    why="The BDP of 1 Mbit/s and 4 ms is 500 bytes, less than a packet. Four packets keep the path busy "
    "despite delayed ACKs.",
    tolerance="5 %: the pacing margin of 1 % and samples of a few packets.",
    needs=(),
)
def tiny(lab: Lab) -> Iterator[Step]:
    """The path has 1 Mbit/s and an RTT of 4 ms."""
    observed = lab.path(8, rate_mbps=1, rtt_ms=4, queue=50, interval_ms=20)
    share = observed.goodput(2, 8) / rate_pps(1)
    yield Step("the link is used", f"{share:.1%}", share >= 0.95)
    if observed.has("max_bw"):
        windows = observed.numbers("cwnd", 2, 8)["value"]
        least = float(windows.min() or 0.0)  # type: ignore[arg-type]
        yield Step("cwnd is at least 4", f"{least:.0f} packets", least >= 4)
        time_s = sum(_cruising(observed, 2)[0]) / 2
        pace = observed.at("pacing_rate", time_s) / observed.at("pacing_gain", time_s) / 8 / 1448
        yield Step(
            "the pacing rate is the bandwidth, but for the gain",
            f"{pace:.1f} of {rate_pps(1):.1f} packets/s",
            abs(pace / rate_pps(1) - 1) <= 0.05,
        )


@case(
    "A.15",
    "bandwidth-up",
    "Ten times the bandwidth is found in a few probes",
    why="10 Mbit/s become 100 Mbit/s. A bound on what is in flight, here from the losses of a shallow "
    "buffer, must grow by steps that double in every round of a probe.",
    tolerance="8 s, which are two waits of at most 3 s and some ten rounds in each of three probes; a step "
    "of at least 8 packets shows three doublings.",
    needs=(),
)
def ten_times_more(lab: Lab) -> Iterator[Step]:
    """The run with a deep buffer checks the time to the new bandwidth. The run with a shallow buffer checks
    the growth in steps."""
    observed = lab.path(_CHANGE_S + 10, queue=700, changes=[at(_CHANGE_S, rate="100 Mbit/s")], interval_ms=10)
    samples = observed.run.series.filter(observed.run.series["time_s"] > _CHANGE_S)
    fast = samples.filter(samples["goodput_bps"] >= 0.9 * rate_pps(100) * 8 * 1448)["time_s"]
    found_s = float(fast[0]) - _CHANGE_S if fast.len() else float("inf")
    yield Step("nine tenths of 100 Mbit/s within 8 s", f"after {found_s:.2f} s", found_s <= 8)
    if not observed.has("round_count"):
        return
    shallow = lab.path(_CHANGE_S + 6, queue=20, changes=[at(_CHANGE_S, rate="100 Mbit/s")])
    if shallow.has("inflight_longterm"):
        bounds = shallow.numbers("inflight_longterm", _CHANGE_S)["value"]
        rise = float((bounds - bounds.shift(8)).max() or 0.0)  # type: ignore[arg-type]
        yield Step(
            "inflight_longterm grows by doubling steps", f"up to {rise:.0f} packets in a round", rise >= 8
        )


@case(
    "A.16",
    "bandwidth-down",
    "With a tenth of the bandwidth, the estimate comes down",
    why="100 Mbit/s become 10 Mbit/s: loss makes the short-term bound follow immediately, and the "
    "maximum forgets the old bandwidth after two probes.",
    tolerance="bw_shortterm within 2 s, a dozen round trips with a full buffer; max_bw within 10 s, three "
    "waits and their probes; 10 % on the new rate.",
    needs=("max_bw",),
)
def ten_times_less(lab: Lab) -> Iterator[Step]:
    """The short-term bound falls first, then the maximum bandwidth."""
    observed = lab.path(
        _CHANGE_S + 11, rate_mbps=100, queue=100, changes=[at(_CHANGE_S, rate="10 Mbit/s")], interval_ms=10
    )
    if observed.has("bw_shortterm"):
        bounds = observed.numbers("bw_shortterm", _CHANGE_S, _CHANGE_S + 2)["value"]
        least = float(bounds.min()) if bounds.len() else float("inf")  # type: ignore[arg-type]
        seen = f"{least:.0f} of {rate_pps(10):.0f} packets/s"
        yield Step("bw_shortterm comes down within 2 s", seen, least <= 1.5 * rate_pps(10))
    last = observed.at("max_bw", _CHANGE_S + 10)
    seen = f"{last:.0f} of {rate_pps(10):.0f} packets/s"
    yield Step("max_bw is the new bandwidth within 10 s", seen, abs(last / rate_pps(10) - 1) <= 0.1)


@case(
    "A.17",
    "policer",
    "Behind a policer, the flow settles at the token rate",
    why="A token bucket lets a burst pass and then drops all packets above its rate, without a queue "
    "that would show congestion earlier. It has 10 Mbit/s and 125 kB, on a path of 100 Mbit/s.",
    tolerance="70 % of the token rate and 5 % of packets retransmitted, in the last six of 14 s: the draft "
    "names no numbers; a probe may lose 20 % of a round's packets, and there is a probe in every 24 "
    "round trips.",
    needs=(),
)
def policer(lab: Lab) -> Iterator[Step]:
    """The policer's losses set short-term bounds; the rate is then stable, without excessive loss."""
    bucket = {"kind": "police", "rate_bps": 10_000_000, "burst_bytes": 125_000}
    observed = lab.path(14, rate_mbps=100, queue=bucket, interval_ms=10)
    if observed.has("inflight_longterm"):
        rows = observed.numbers("bw_shortterm").height, observed.numbers("inflight_shortterm").height
        yield Step("bw_shortterm and inflight_shortterm are set", f"{rows} samples", min(rows) > 0)
    share = observed.goodput(8, 14) / rate_pps(10)
    yield Step("it settles near the token rate", f"{share:.0%}", 0.7 <= share <= 1.02)
    again = observed.retransmitted(8, 14) / max(1.0, 6 * observed.goodput(8, 14))
    yield Step("without excessive loss", f"{again:.1%} retransmitted", again <= 0.05)
