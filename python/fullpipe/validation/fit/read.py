"""Measurements read from files of any kind."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fullpipe import files
from fullpipe.engines.flent.described import mss_of, retransmissions
from fullpipe.engines.flent.remarks import Test
from fullpipe.engines.flent.run import read_test
from fullpipe.engines.flent.series import ECHOES
from fullpipe.engines.flent.twin import directions_of, goodput_bps
from fullpipe.engines.imported import reader_of
from fullpipe.engines.pcap import Flow, capture, flows_of
from fullpipe.engines.pcap.described import is_running
from fullpipe.errors import InputFileError
from fullpipe.scenario.model.tcp import HEADERS_BYTES
from fullpipe.validation.fit import iperf3, logs
from fullpipe.validation.fit.measured import SINCE_1970_S, WAYS, Known, Measured, Pings, Rates, Way

# A Flent file as the measurement of a line.


def of_flent(path: Path) -> Measured:
    """The measurement in a Flent file.

    Raises:
        InputFileError: If the file is not a Flent file, or has no ping or no stream.
    """
    test = read_test(path)
    pings = _pings(test)
    if not pings.rtts_s.size:
        raise InputFileError(f"{path}: has no ping or probe, so the RTT of the line is unknown")
    rates = {way: found for way in WAYS if (found := _rates(test, way)) is not None}
    if not rates:
        raise InputFileError(f"{path}: has no TCP stream, so the rate of the line is unknown")
    measured = Measured(pings, rates, one_clock=True)
    if not measured.both_at_once:
        return measured
    # The directions are fitted together, as ACKs of the data in one direction wait in the queue of the other
    # direction.
    ways, guessed, unknown = directions_of(test)
    values = {way: (of.rate_bps, of.queue_s, of.stands_for) for way, of in ways.items()}
    return replace(measured, known=Known(values, guessed, unknown))


def _pings(test: Test) -> Pings:
    """Return the pings without DSCP to the nearest host."""
    series = [one for one in test.series if one.kind in ECHOES and one.mark is None and one.values]
    if not series:
        return Pings(np.array([]), np.array([]))
    nearest = min(series, key=lambda one: float(np.median(one.column("val", one.values))))
    near = [one for one in series if one.host == nearest.host]
    rtts_s = np.concatenate([one.column("val", one.values) for one in near]) * 1e-3
    ends_s = np.concatenate([test.timing.since(one.column("t", one.values)) for one in near])
    kept = rtts_s > 0
    order = np.argsort(ends_s[kept] - rtts_s[kept], kind="stable")
    return Pings((ends_s - rtts_s)[kept][order], rtts_s[kept][order])


def _rates(test: Test, way: Way) -> Rates | None:
    streams = [one for one in test.streams if one.is_upload == (way == "up") and one.values]
    if not streams:
        return None
    together = np.vstack([goodput_bps(test, one) for one in streams])
    runs = ~np.isnan(together).all(axis=0)
    if runs.sum() < 2 or not np.nansum(together) > 0:
        return None
    counts = [retransmissions(one) for one in streams]
    known = [count for count in counts if count is not None]
    names = {test.names.algorithm(one) for one in streams}
    return Rates(
        test.timing.grid_s[runs],
        np.full(int(runs.sum()), test.timing.step_s),
        np.nansum(together, axis=0)[runs],
        frozenset(name for name in names if name),
        mss_of(streams[0]),
        sum(known) if len(known) == len(counts) else None,
    )


# RTTs of captured segments to near and far hosts, converted to RTTs to the nearest host.


_STEP_S = 0.05


@dataclass(frozen=True)
class SegmentRtts:
    """RTTs of all hosts, converted to RTTs of the nearest host."""

    nearest: Flow
    """The flow with the smallest RTT. This RTT is taken for the RTT of an empty queue."""
    pings: Pings
    has_unsure: bool
    """Whether queueing delays may be longer than the RTTs show. If so, all RTTs of some time steps belong to
    hosts whose flows began while other flows sent. These flows may never have met an empty queue."""


def segment_rtts(flows: Sequence[Flow]) -> SegmentRtts:
    """Return the median RTT of segments in every time step; hundreds of RTTs per step would add no
    information.

    Hosts share the queue of the line but not the path beyond it, so the smallest RTT of each host is
    subtracted. The smallest RTT of a host that never met an empty queue is too large. Such a host counts only
    in steps without other hosts.

    Args:
        flows: Flows with RTTs of data, at least one flow.
    """
    hosts: dict[tuple[str, ...], list[Flow]] = defaultdict(list)
    for flow in flows:
        hosts[tuple(sorted(end.rpartition(".")[0] for end in flow.ends))].append(flow)
    nearest = min(flows, key=_least_s)
    columns = []
    for of_host in hosts.values():
        shift_s = _least_s(nearest) - min(map(_least_s, of_host))
        is_unsure = _began_among(of_host, [flow for flow in flows if flow not in of_host])
        for flow in of_host:
            times_s, rtts_s = flow.newest_rtts_s
            columns.append((times_s, rtts_s + shift_s, np.full(times_s.size, is_unsure)))
    times_s, rtts_s, unsure = (np.concatenate(column) for column in zip(*columns, strict=True))
    steps = np.floor(times_s / _STEP_S)
    kept = ~unsure | ~np.isin(steps, steps[~unsure])
    order = np.flatnonzero(kept)[np.argsort(steps[kept], kind="stable")]
    begins = np.flatnonzero(np.diff(steps[order], prepend=-np.inf) > 0)
    medians_s = np.array([np.median(part) for part in np.split(rtts_s[order], begins[1:])])
    pings = Pings(times_s[order][begins] - medians_s, medians_s)
    return SegmentRtts(nearest, pings, bool(unsure[kept].any()))


def _least_s(flow: Flow) -> float:
    return flow.least_rtt_s or 0.0


def _began_among(of_host: Sequence[Flow], others: Sequence[Flow]) -> bool:
    """Whether flows to other hosts sent data when the flows of a host began."""
    begin_s = min(flow.span_s[0] for flow in of_host)
    return any(flow.sent_s[0] < begin_s < flow.span_s[1] for flow in others)


# A capture of bulk flows as the measurement of a line: RTTs of segments, and delivered bytes.


_CAPTURE_STEP_S = 0.1
_OF_SIDE: dict[str, Way] = {"sender": "up", "receiver": "down"}
_LEAST_STEPS = 10


def of_capture(path: Path) -> Measured:
    """The measurement in a capture, of the line of the host on which the capture was taken.

    Raises:
        InputFileError: If the file is not a capture, or no bulk flow has an RTT of data and ACK.
    """
    flows = [
        flow for flow in flows_of(capture.read(path).connections)[0] if flow.has_acks and flow.least_rtt_s
    ]
    timed = [flow for flow in flows if flow.newest_rtts_s[1].size]
    if not timed:
        raise InputFileError(
            f"{path}: no bulk flow of TCP has data and ACKs with an RTT; capture a download or an upload"
        )
    of_way = {way: [flow for flow in flows if _way(flow) == way] for way in WAYS}
    rates = {way: of for way in WAYS if (of := _rates_of_flows(of_way[way])) is not None}
    if not rates:
        raise InputFileError(
            f"{path}: no bulk flow lasts for {_LEAST_STEPS * _CAPTURE_STEP_S:g} s; capture a longer one"
        )
    found = segment_rtts(timed)
    nearest = found.nearest
    handshake_s = nearest.side.handshake_s
    is_handshake = handshake_s is not None and handshake_s <= (nearest.least_rtt_s or 0.0)
    there = HEADERS_BYTES + (0 if is_handshake else nearest.mss)
    told = ["RTT and queueing delays: of segments, not of pings"]
    if any(flow.side.name not in _OF_SIDE for flow in flows):
        told.append(
            "direction: the capture does not show on which side it was taken; taken for the receiver's side"
        )
    return Measured(
        found.pings,
        rates,
        one_clock=True,
        told=told,
        least_rtt_s=nearest.least_rtt_s,
        echo=(there, HEADERS_BYTES),
        has_unsure=found.has_unsure,
    )


def _way(flow: Flow) -> Way:
    return _OF_SIDE.get(flow.side.name, "down")


def _rates_of_flows(flows: Sequence[Flow]) -> Rates | None:
    """Bytes that all flows of one direction delivered per time step, without the pauses of the flows."""
    if not flows:
        return None
    begin_s = min(flow.span_s[0] for flow in flows)
    end_s = max(flow.span_s[1] for flow in flows)
    edges_s = np.arange(begin_s, end_s, _CAPTURE_STEP_S)
    arrived, seen = np.zeros(edges_s.size), np.zeros(edges_s.size)
    for flow in flows:
        times_s, front = flow.delivered
        place = np.searchsorted(times_s, edges_s, side="right")
        arrived += np.concatenate([[0.0], np.maximum.accumulate(front)])[place]
        seen += np.searchsorted(flow.sent_s, edges_s, side="right")
    longest_s = max((float(flow.rtts_s[1].max()) for flow in flows if flow.rtts_s[1].size), default=0.0)
    # While a hole is open, data arrive but nothing is delivered.
    runs = is_running(np.diff(arrived + seen), _CAPTURE_STEP_S, longest_s)
    bps = np.diff(arrived)[runs] * 8 / _CAPTURE_STEP_S
    if bps.size < _LEAST_STEPS or not bps.any():
        return None
    counts = [None if flow.retransmissions is None else flow.retransmissions.total for flow in flows]
    known = [count for count in counts if count is not None]
    resent = sum(known) if len(known) == len(counts) else None
    return Rates(edges_s[1:][runs], np.full(bps.size, _CAPTURE_STEP_S), bps, mss=flows[0].mss, resent=resent)


# Untrusted files of measurements, read as one measurement of one line.


MOST_BYTES = 64_000_000
MOST_LINES = 2_000_000
"""Maximum number of lines of a file: a line of a few bytes takes a hundred bytes in memory."""
OF_READERS: Mapping[str, Callable[[Path], Measured]] = {"flent": of_flent, "pcap": of_capture}
"""Functions that return the measurement in a file with RTTs and rates, by the name of the reader."""


def read(paths: Sequence[Path], way: Way = "down") -> Measured:
    """Read the measurement of an access line: logs of ping or fping, and throughput as CSV or from iperf3. A
    single Flent, pcap or pcapng file has both RTTs and rates.

    Args:
        paths: The files, in any order.
        way: Direction of CSV files without a header.

    Raises:
        InputFileError: If a file has none of these formats, if pings or rates are missing, or if two files
            have rates of one direction.
    """
    for path in paths:
        reader = reader_of(path)
        if reader is not None and len(paths) > 1:
            raise InputFileError(f"{path}: has RTTs and rates; give this file alone")
        if reader is not None:
            return OF_READERS[reader.ENGINE](path)
    pings: list[tuple[Pings, bool]] = []
    rates: dict[Way, Rates] = {}
    for path in paths:
        found = _one(path, way)
        if isinstance(found, tuple):
            pings.append(found)
            continue
        if twice := sorted(rates.keys() & found.keys()):
            raise InputFileError(
                f"{path}: another file has rates {twice[0]}, too; give one file for each direction"
            )
        rates |= found
    if not rates:
        raise InputFileError(
            f"{paths[0]}: no file has rates; give throughput as CSV or from iperf3 --json, too"
        )
    if not pings:
        raise InputFileError(
            f"{paths[0]}: no file has pings, so the RTT of the line is unknown; give a ping log, too"
        )
    return _together(pings, rates)


def _one(path: Path, way: Way) -> tuple[Pings, bool] | dict[Way, Rates]:
    text = _text(path)
    if logs.is_log(text):
        return logs.pings_of(text, path)
    iperf3.refuse(text, path)
    if text.lstrip()[:1] in ("{", "["):
        return iperf3.rates_of(text, path)
    return logs.of_csv(text, path, way)


def _text(path: Path) -> str:
    try:
        with files.open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > MOST_BYTES:
        raise InputFileError(f"{path}: has more than {MOST_BYTES // 10**6} MB; no log of a test is as large")
    if data.count(b"\n") > MOST_LINES:
        raise InputFileError(f"{path}: has more than {MOST_LINES:,} lines; no log of a test has as many")
    if not data.strip():
        raise InputFileError(f"{path}: is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # output that PowerShell redirected
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:10_000]:
        raise InputFileError(f"{path}: is not a text file; {iperf3.READ}")
    return data.decode("utf-8", errors="replace").lstrip("\ufeff")


def _together(pings: Sequence[tuple[Pings, bool]], rates: Mapping[Way, Rates]) -> Measured:
    stamped = all(one_clock for _, one_clock in pings)
    one_clock = stamped and all(of.begin_s > SINCE_1970_S for of in rates.values())
    sent_s = np.concatenate([of.sent_s for of, _ in pings])
    order = np.argsort(sent_s, kind="stable")
    rtts_s = np.concatenate([of.rtts_s for of, _ in pings])
    every = Pings(sent_s[order], rtts_s[order], sum(of.lost for of, _ in pings))
    told = dict.fromkeys(line for of in rates.values() for line in of.told)
    return Measured(every, rates, one_clock, tuple(told))
