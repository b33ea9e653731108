"""The twin of a test: a scenario whose path is estimated from the data, with its guesses and unknown
properties."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fullpipe.engines.flent.described import cca_of, mss_of, retransmissions, scenario_of
from fullpipe.engines.flent.limits import (
    full_wait_s,
    is_held_back,
    least_wait_s,
    may_fill,
    send_memory_of,
)
from fullpipe.engines.flent.remarks import Test, ended_on_the_way, named
from fullpipe.engines.flent.series import ECHOES, Floats, Series, rates_bps
from fullpipe.engines.imported.measurement import FEW_EVENTS, Twin, busy_bps, ceiling_bps, of_file
from fullpipe.errors import InputFileError, brief
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.tcp import HEADERS_BYTES

Way = Literal["up", "down"]
_ECHO_BYTES = 98
"""Size of a ping or a probe with all headers."""
_DEFAULT_MSS = 1448
_WINDOW_S = 10.0
"""Length of the time windows over which rates are averaged. Data received out of order are delivered in one
burst when the hole is filled. With a shorter window, the estimated rate of the link would be that of the
burst."""
_WINDOW_RTTS = 4
"""Length of the time windows in tests with streams in both directions, in units of the longest RTT of pings.
Queued ACKs leave links idle at times, which longer windows would include. Within a window of this length, a
loss is repaired and the data after the hole are delivered."""
_FINE_SHARE = 0.005
"""A ceiling of the rates is not used if it is below the p90 of the windows' rates by more than this share of
the p90. The share corresponds to about one packet per window."""
_FULL_SHARE = 0.05
"""Smallest queueing delay, as a share of the RTT, from which a queue counts as filled."""
_PER_FLOW = "fq_codel"
"""Placeholder for any queue in which pings do not wait behind packets of streams."""


@dataclass(frozen=True)
class Direction:
    """The estimate of one direction of the path."""

    rate_bps: float
    window_s: float | None
    """Length of the time windows; `rate_bps` is the p90 of the rates in these windows. None if `rate_bps` is
    the ceiling of a busy link."""
    mean_bps: float
    """Mean rate while any stream ran, headers and the ACKs of the other direction included."""
    queue_s: float | None
    """Longest queueing delay of pings and probes; None if these delays do not show the length of the
    queue."""
    stands_for: str = ""
    """Placeholder for an unknown queue, or ""."""


def twin_of(test: Test, where: object) -> Twin:
    """Return the scenario that would reproduce a test.

    Raises:
        InputFileError: If there are no pings or probes for the RTT, no streams for the rate, or the result is
            not a valid scenario.
    """
    if not any(one.values for one in test.streams):
        raise InputFileError(f"{where}: no TCP stream has samples, so the rate of the path is unknown")
    rtts_s = _base_rtts_s(test)
    if not rtts_s:
        raise InputFileError(f"{where}: no ping or probe has samples, so the RTT of the path is unknown")
    held_back = _held_back(test)
    ways, guessed, unknown = directions_of(test, held_back)
    if not ways or not all(of.rate_bps > 0 for of in ways.values()):
        raise InputFileError(f"{where}: the streams delivered nothing, so the rate of the path is unknown")
    slowest_bps = min(of.rate_bps for of in ways.values())
    base_s = max(min(rtts_s.values()) - 2 * _ECHO_BYTES * 8 / slowest_bps, 1e-6)
    guessed.append(_rtt_line(base_s, rtts_s))
    unknown += [*_algorithms(test), *_unasked(test, rtts_s), *_ended(test), *_losses(test, ways, base_s)]
    guessed += [
        f"send buffer, {flow}: its memory ({keys['send_memory_most']}, tcp_wmem) limits the flow, as the"
        " congestion window did not change and hardly any packet was dropped"
        for flow, keys in held_back.items()
    ]
    with of_file(where, "test"):
        scenario = _scenario(test, ways, base_s, rtts_s, held_back)
    return Twin(scenario, guessed, unknown)


def directions_of(
    test: Test, held_back: Collection[str] = ()
) -> tuple[dict[Way, Direction], list[str], list[str]]:
    """Return rate and buffer of every direction with streams, the guesses, and the unknown properties.

    Args:
        test: A test with pings or probes.
        held_back: Names of flows that were limited by the memory of their sockets, not by the path.
    """
    guessed: list[str] = []
    unknown: list[str] = []
    ways: dict[Way, Direction] = {}
    for way in ("up", "down"):
        of_way = [one for one in test.streams if one.values and one.is_upload == (way == "up")]
        if of_way and (rates_bps := _running_bps(test, of_way)).size:
            rate_bps, window_s = _rate_bps(test, rates_bps)
            of = Direction(rate_bps, window_s, float(rates_bps.mean()), None)
            ways[way] = _with_queue(test, way, of, guessed, unknown)
            if all(one.flow in held_back for one in of_way):
                ways[way] = _without_queue(way, ways[way], unknown)
    _say_of_paths(test, ways, guessed, unknown)
    return ways, guessed, unknown


def _rtt_line(base_s: float, rtts_s: Mapping[str, float]) -> str:
    nearest_s = min(rtts_s.values())
    farther = [
        f"{brief(host)} {(rtt_s - nearest_s) * 1e3:.4g} ms"
        for host, rtt_s in rtts_s.items()
        if host and rtt_s - nearest_s > _FULL_SHARE * base_s
    ]
    more = f"; farther: {', '.join(farther)}" if farther else ""
    return f"RTT: {base_s * 1e3:.4g} ms, the smallest ping{more}; both directions get half of it"


def _algorithms(test: Test) -> Iterator[str]:
    """Yield a line for streams whose algorithm in the scenario is assumed."""
    taken = defaultdict[tuple[str, str], list[str]](list)
    for one in test.streams:
        if test.names.known(one.algorithm) is None:
            taken[one.algorithm, cca_of(one, test.names)].append(one.flow)
    for (name, cca), flows in taken.items():
        said = f"Fullpipe has no {name}" if name else "unknown"
        yield f"algorithm of {named(flows)}: {said}; {cca} is used instead"


def _unasked(test: Test, rtts_s: Mapping[str, float]) -> list[str]:
    """Return a line for every server without pings, in tests with several servers."""
    hosts = dict.fromkeys(one.host for one in test.streams if one.host and one.host not in rtts_s)
    if len(rtts_s.keys() | hosts.keys()) < 2:
        return []
    return [f"RTT to {brief(host)}: no ping measured it; the smallest RTT is used" for host in hosts]


def _ended(test: Test) -> list[str]:
    """Return a line on a proxy or NAT that splits connections into two, which the scenario cannot
    reproduce."""
    flows = [flow for flow, *_ in ended_on_the_way(test)]
    if not flows:
        return []
    return [
        f"path of {named(flows)}: a proxy or NAT splits these connections into two, so they took"
        " another path than the pings; in the scenario both take the same path, so goodput and queueing"
        " delays may differ much"
    ]


def _held_back(test: Test) -> Mapping[str, Mapping[str, str]]:
    """Return keys of `tcp` for the flows that were limited by the memory of their sockets."""
    memory = send_memory_of(test)
    if memory is None:
        return {}
    return {one.flow: memory.keys() for one in test.streams if is_held_back(test, one, memory)}


def _without_queue(way: Way, of: Direction, unknown: list[str]) -> Direction:
    """Return a direction whose buffer was not filled, so that only a lower bound of its size is known."""
    if of.queue_s is not None:
        unknown.append(
            f"buffer, {way}: at least {of.queue_s * 1e3:.4g} ms, the longest queueing delay of a ping; the"
            " streams did not fill the buffer"
        )
    return replace(of, queue_s=None)


def _with_queue(test: Test, way: Way, of: Direction, guessed: list[str], unknown: list[str]) -> Direction:
    """Return a direction with the queue in which pings waited behind packets of its streams, or with a
    placeholder."""
    streams = [one for one in test.streams if one.is_upload == (way == "up")]
    others = [one for one in test.streams if one not in streams]
    if not any(may_fill(test, one) for one in streams):
        names = sorted({test.names.algorithm(one) or "" for one in streams})
        unknown.append(
            f"buffer, {way}: {', '.join(names)} keeps queues short; only loss-based algorithms fill a buffer"
        )
        return of
    owds_s = _rises_s(test, "owd_up" if way == "up" else "owd_down")
    is_of_both = bool(others) and not owds_s.size
    rises_s = owds_s if owds_s.size else _rises_s(test, "val")
    most_s = float(rises_s.max()) if rises_s.size else None
    queue_s = full_wait_s(test) if is_of_both else most_s
    if queue_s is None or queue_s < least_wait_s(test, streams, _base_rtts_s(test)):
        waited = "no unmarked ping was sent"
        if queue_s is not None:
            waited = f"pings had queueing delays of {queue_s * 1e3:.2g} ms at most"
        unknown.append(
            f"buffer, {way}: {waited} while streams ran; {_PER_FLOW} represents queues per flow, a managed"
            " queue, or streams that never filled the path"
        )
        return replace(of, stands_for=_PER_FLOW)
    if is_of_both and any(may_fill(test, one) for one in others):
        guessed.append(
            f"buffer, {way}: pings waited in both directions, whose queues fill alternately; both buffers are"
            " assumed to be equal"
        )
    return replace(of, queue_s=queue_s)


def _base_rtts_s(test: Test) -> Mapping[str, float]:
    """Return the smallest RTT to every host with pings or probes."""
    found: dict[str, float] = {}
    for one in _echoes(test):
        least_s = float(one.column("val", one.values).min()) * 1e-3
        found[one.host] = min(least_s, found.get(one.host, math.inf))
    return found


def _echoes(test: Test) -> Sequence[Series]:
    """Return the series of pings and probes with RTTs."""
    return [one for one in test.series if one.kind in ECHOES and one.values]


def _running_bps(test: Test, streams: Sequence[Series]) -> Floats:
    """Return the total rate of a direction at every step at which any of its streams runs.

    The rate includes headers, and the ACKs of streams in the other direction.
    """
    total = _wire_bps(test, streams, per_segment=1.0)
    others = [one for one in test.streams if one.is_upload != streams[0].is_upload]
    if others:
        total = total + _acks_bps(test, others)
    running: Floats = total[~np.isnan(total)]
    return running


def _rate_bps(test: Test, rates_bps: Floats) -> tuple[float, float | None]:
    """Return the rate of a direction: the p90 of the rates in time windows, with the length of the windows.

    With streams in both directions, the rate is the ceiling of the rates in windows if a ceiling exists; the
    length is then None.
    """
    if not _is_both_ways(test):
        return busy_bps(rates_bps, test.timing.step_s, _WINDOW_S), _WINDOW_S
    longest_s = max(float(one.column("val", one.values).max()) for one in _echoes(test)) * 1e-3
    window_s = max(_WINDOW_RTTS * longest_s, test.timing.step_s)
    least_bps = busy_bps(rates_bps, test.timing.step_s, window_s)
    found = ceiling_bps(rates_bps, test.timing.step_s)
    return (least_bps, window_s) if found is None or found < (1 - _FINE_SHARE) * least_bps else (found, None)


def _is_both_ways(test: Test) -> bool:
    return len({one.is_upload for one in test.streams}) > 1


def _wire_bps(test: Test, streams: Sequence[Series], per_segment: float) -> Floats:
    """Return rates on the grid, with the headers of every segment; NaN while no stream runs."""
    rates = []
    for one in streams:
        mss = mss_of(one) or _DEFAULT_MSS
        rates.append(goodput_bps(test, one) * (mss + per_segment * HEADERS_BYTES) / mss)
    stacked = np.vstack(rates)
    found: Floats = np.where(np.isnan(stacked).all(axis=0), np.nan, np.nansum(stacked, axis=0))
    return found


def _acks_bps(test: Test, streams: Sequence[Series]) -> Floats:
    """Return the rate of streams' ACKs: one ACK for every two segments (RFC 9293, section 3.8.6.3)."""
    rates = [
        np.nan_to_num(goodput_bps(test, one)) * HEADERS_BYTES / (2 * (mss_of(one) or _DEFAULT_MSS))
        for one in streams
    ]
    found: Floats = np.sum(np.vstack(rates), axis=0)
    return found


def goodput_bps(test: Test, one: Series) -> Floats:
    """Return the goodput of a stream in every step of the test; NaN while it does not run."""
    lasts_s = np.nan_to_num(one.column("dur", one.values), nan=test.timing.step_s)
    ends_s = test.timing.since(one.column("t", one.values))
    return rates_bps(ends_s, lasts_s, one.column("val", one.values), test.timing.grid_s)


def _rises_s(test: Test, key: str) -> Floats:
    """Return the queueing delays of best-effort pings while streams run: RTT minus smallest RTT."""
    begin_s, end_s = test.timing.delay_s, test.timing.delay_s + test.timing.length_s
    found = []
    for one in test.series:
        if one.kind in ECHOES and one.mark is None:
            values = one.column(key, one.values) * 1e-3
            times_s = test.timing.since(one.column("t", one.values))
            known = ~np.isnan(values)
            if known.any():
                loaded = known & (times_s >= begin_s) & (times_s <= end_s)
                found.append(values[loaded] - values[known].min())
    return np.concatenate(found) if found else np.array([])


def _say_of_paths(test: Test, ways: Mapping[Way, Direction], guessed: list[str], unknown: list[str]) -> None:
    counts = [count for count in map(retransmissions, test.streams) if count is not None]
    is_full = not counts or sum(counts) >= FEW_EVENTS
    for way, of in ways.items():
        if of.window_s is not None and len(ways) == 2:
            unknown.append(
                f"rate, {way}: at least {of.rate_bps / 1e6:.4g} Mbit/s with headers of {HEADERS_BYTES} B; a"
                f" tenth of all windows of {of.window_s:.2g} s exceed this rate; the link was never busy for"
                " long, as ACKs waited in the queue of the other direction"
            )
        else:
            guessed.append(_rate_line(way, of))
        if of.queue_s is not None:
            guessed.append(
                f"buffer, {way}: {of.queue_s * 1e3:.4g} ms, the queueing delay of a ping in the full buffer,"
                " assumed to be drop-tail"
                + (
                    ""
                    if is_full
                    else "; the buffer may be larger, because losses are too few to show that it was full"
                )
            )
    if len(ways) == 1:
        guessed.append("the other direction, in which no stream ran, is assumed to be equal")


def _rate_line(way: Way, of: Direction) -> str:
    rate = f"rate, {way}: {of.rate_bps / 1e6:.4g} Mbit/s with headers of {HEADERS_BYTES} B; all streams"
    mean = f"mean {of.mean_bps / 1e6:.4g} Mbit/s"
    if of.window_s is None:
        return f"{rate} together often have this rate, and hardly ever a slightly higher rate ({mean})"
    return (
        f"{rate} together exceed this rate in a tenth of all windows of {of.window_s:.0f} s ({mean}); the"
        " rate is too low if the streams never filled the path"
    )


def _losses(test: Test, ways: Mapping[Way, Direction], base_s: float) -> list[str]:
    """Return the reason why the scenario has no random loss."""
    counts = [retransmissions(one) for one in test.streams]
    if all(count is None for count in counts):
        return ["random loss: the file has no retransmission counts"]
    events = sum(count or 0 for count in counts)
    fills = any(of.queue_s is not None and of.queue_s > _FULL_SHARE * base_s for of in ways.values())
    if events < FEW_EVENTS:
        few = f"an estimate needs {FEW_EVENTS}"
        return [f"random loss: {events} packets were retransmitted, and {few}"]
    cause = (
        "the full buffer explains these losses" if fills else "a queue or the link may have dropped packets"
    )
    return [f"random loss: {events} packets were retransmitted; {cause}"]


def _scenario(
    test: Test,
    ways: Mapping[Way, Direction],
    base_s: float,
    rtts_s: Mapping[str, float],
    held_back: Mapping[str, Mapping[str, str]],
) -> Scenario:
    """Return the scenario of the test with the estimated path."""
    tree = scenario_of(test.document, test.series, test.timing, test.names).to_dict()
    only = next(iter(ways.values()))
    forward, backward = ways.get("down", only), ways.get("up", only)
    topology: dict[str, Any] = {"kind": "dumbbell", "bottleneck": _link(forward, base_s)}
    if backward is not forward:
        topology["reverse"] = _link(backward, base_s)
    nearest_s = min(rtts_s.values())
    flows = [one for one in test.series if one.kind != "qdisc"]
    for flow, one in zip(tree["flows"], flows, strict=True):
        if one.flow in held_back:
            flow["tcp"] = {**flow.get("tcp", {}), **held_back[one.flow]}
        further_s = rtts_s.get(one.host, nearest_s) - nearest_s
        if further_s > _FULL_SHARE * base_s:
            flow["access"] = {"delay": f"{further_s / 4:.6g} s"}  # an RTT crosses four access links
    return Scenario(**{**tree, "name": f"{tree['name']} twin", "topology": topology})


def _link(of: Direction, base_s: float) -> dict[str, Any]:
    link: dict[str, Any] = {"rate": f"{of.rate_bps:.0f} bit/s", "delay": f"{base_s / 2:.6g} s"}
    if of.stands_for:
        link["queue"] = {"kind": of.stands_for}
    elif of.queue_s is not None and of.queue_s > 0:
        link["queue"] = {"kind": "drop_tail", "bytes": f"{max(of.queue_s * of.rate_bps / 8, 1514):.0f} B"}
    return link
