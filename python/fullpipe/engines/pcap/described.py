"""Description of a capture: its scenario, one-way delays, and remarks on findings and missing values."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.engines.imported.measurement import STAND_IN, UNKNOWN
from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.capture import Capture
from fullpipe.engines.pcap.connections import NO_ACK, Floats, Sent
from fullpipe.engines.pcap.flow import Flow
from fullpipe.engines.pcap.headers import ACK, CWR, ECE, FIN, RST, SYN
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.tcp import MOST_MSS_BYTES

# The scenario of a capture: its flows, on a path that is unknown.


ALL = "all"
"""Name that stands for all flows in the option that gives algorithms."""
_MOST_STEPS = 1_000
_LEAST_STEP_S = 1e-3


def step_s(duration_s: float) -> float:
    """Return the sampling interval: 1, 2 or 5 times a power of ten, for at most 1,000 samples."""
    least = max(duration_s / _MOST_STEPS, _LEAST_STEP_S)
    power = 10.0 ** math.floor(math.log10(least) + 1e-9)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def grid_s(duration_s: float) -> Floats:
    """Return the ends of the sampling steps. The last step does not end before the last packet."""
    step = step_s(duration_s)
    steps = max(math.ceil(duration_s / step - 1e-9), 1)
    return np.asarray(np.arange(1, steps + 1, dtype=np.float64) * step)


def algorithm_of(flow: Flow, algorithms: Mapping[str, str]) -> str | None:
    """Return the algorithm given for a flow, or None. A capture does not contain the algorithm."""
    return algorithms.get(flow.name, algorithms.get(ALL))


def scenario_of(
    path: Path, flows: Sequence[Flow], duration_s: float, algorithms: Mapping[str, str]
) -> Scenario:
    """Return the scenario of a capture, with placeholders for its unknown path."""
    grid = grid_s(duration_s)
    return Scenario(
        name=_name(path),
        duration=_seconds(float(grid[-1])),
        warmup="0 s",
        topology={"kind": "dumbbell", "bottleneck": UNKNOWN},
        flows=[
            {
                "name": flow.name,
                "cca": algorithm_of(flow, algorithms) or STAND_IN,
                "start": _seconds(flow.span_s[0]),
                "stop": _seconds(max(flow.span_s[1], flow.span_s[0] + step_s(duration_s))),
                "tcp": {"mss": f"{min(flow.mss, MOST_MSS_BYTES)} B", "timestamps": flow.has_timestamps},
            }
            for flow in flows
        ],
        record={"interval": _seconds(step_s(duration_s))},
    )


def _name(path: Path) -> str:
    """Return a file name as a name of a scenario, with a hyphen for every character that such names cannot
    have."""
    return re.sub(r"[^\w.+ -]", "-", Path(path.name.removesuffix(".gz")).stem)[:100] or "capture"


def _seconds(time_s: float) -> str:
    return f"{time_s:.9g} s"


# One-way delays of a flow that was captured at both ends, from the clocks of both captures.


_SAME = ("number", "stamp", "identity")
"""Columns that identify a packet in both captures. A super-packet has the values of its first packet."""


@dataclass(frozen=True)
class OneWay:
    """Delays, in s, of the packets that occur exactly once in each of the two captures."""

    there_s: Floats
    """Delays of data to the receiver, shape (n,)."""
    back_s: Floats
    """Delays of ACKs to the sender, shape (m,)."""

    @property
    def early_s(self) -> float:
        """Longest time by which a packet seems to arrive before it was sent, because the clocks of the
        captures differ; 0 if no packet seems to arrive early."""
        return max(0.0, -float(np.concatenate([self.there_s, self.back_s]).min()))


def one_way_of(flow: Flow) -> OneWay | None:
    """Return the one-way delays of a flow, or None unless it was captured at sender and receiver."""
    far = flow.connection.far
    if far is None:
        return None
    views = {one.side.name: one for one in (flow, Flow(far, flow.sender, flow.mss))}
    if views.keys() != {"sender", "receiver"}:
        return None
    sent, came = views["sender"], views["receiver"]
    there_s = _delays_s(_data(sent), _data(came))
    return OneWay(there_s, _delays_s(_acks(came), _acks(sent))) if there_s.size else None


def _data(flow: Flow) -> pl.DataFrame:
    """Return the segments with payload, identified by the sequence number of their first byte."""
    return _packets(flow.data, flow.rows, flow.data.seq[flow.rows] + flow.data.zero)


def _acks(flow: Flow) -> pl.DataFrame:
    """Return the segments of the receiver, identified by their acknowledgement number."""
    rows = np.flatnonzero(flow.acks.ack != NO_ACK)
    return _packets(flow.acks, rows, flow.acks.ack[rows] + flow.data.zero)


def _packets(sent: Sent, rows: Ints, numbers: Ints) -> pl.DataFrame:
    """Return the packets that a capture has exactly once."""
    columns = {
        "number": numbers % 2**32,
        "stamp": sent.ts_val[rows],
        "identity": sent.identity[rows],
        "time_s": sent.time_s[rows],
    }
    return pl.DataFrame(columns).unique(_SAME, keep="none")


def _delays_s(sent: pl.DataFrame, came: pl.DataFrame) -> Floats:
    both = sent.join(came, on=_SAME, suffix="_came")
    return (both["time_s_came"] - both["time_s"]).round(9).to_numpy()


# Remarks on a capture, one line each: facts about its flows that the tables do not contain, and missing
# values.


_DESCRIBED = 8
"""Largest number of flows that get a remark."""


def remarks_of(capture: Capture, flows: Sequence[Flow], left_out: int) -> tuple[str, ...]:
    """Return all remarks, in a fixed order."""
    described = [_described(flow) for flow in flows[:_DESCRIBED]]
    return (*described, *_of_file(capture, flows, left_out))


def _described(flow: Flow) -> str:
    parts = [*_place(flow), *_one_way(flow), *_negotiated(flow), *_sent_again(flow), *_receiver(flow)]
    parts += _marks(flow)
    if flow.unseen_bytes:
        parts.append(f"{flow.unseen_bytes:,} B that were acknowledged are not in the capture")
    if flow.connection.twice:
        parts.append(f"{flow.connection.twice:,} packets were captured twice and count once")
    if flow.connection.views > 1:
        parts.append(
            f"{flow.connection.views} interfaces captured the connection, and the interface with both"
            " directions and most data is used"
        )
    return f"{flow.name}: {'; '.join(parts)}"


def _place(flow: Flow) -> Iterator[str]:
    side = flow.side
    if side.is_idle:
        yield (
            "the point of capture is unknown, and so is the RTT: the sender was idle at every ACK that it"
            " echoes, and the handshake was not captured"
        )
    elif side.name == "unknown" or side.sender_s is None or side.receiver_s is None:
        yield "the point of capture is unknown: no RTT to the sender, or none to the receiver, was captured"
    else:
        where = {"middle": "between the ends"}.get(side.name, f"at the {side.name}")
        yield (
            f"captured {where}: {side.sender_s * 1e3:.3g} ms to the sender and back,"
            f" {side.receiver_s * 1e3:.3g} ms to the receiver"
        )
    if side.handshake_s is not None:
        yield f"the handshake took {side.handshake_s * 1e3:.4g} ms"


def _one_way(flow: Flow) -> Iterator[str]:
    one_way = one_way_of(flow)
    if one_way is None:
        return
    if one_way.early_s:
        yield (
            f"packets arrive up to {one_way.early_s * 1e3:,.4g} ms before they were sent: the clocks of the"
            " two captures differ, and one-way delays are not given"
        )
        return
    least = f"{one_way.there_s.min() * 1e3:.4g} ms to the receiver"
    if one_way.back_s.size:
        least += f" and {one_way.back_s.min() * 1e3:.4g} ms back"
    count = one_way.there_s.size
    yield f"one-way delays of {count:,} segments, by the clocks of both captures: at least {least}"


def _negotiated(flow: Flow) -> Iterator[str]:
    data, acks = flow.data, flow.acks
    options = []
    if data.sack_permitted and acks.sack_permitted:
        options.append("SACK")
    if flow.has_timestamps:
        options.append("timestamps")
    if data.scale is not None and acks.scale is not None:
        options.append(f"window scale {data.scale} and {acks.scale}")
    if _has_ecn(flow):
        options.append("ECN")
    handshake = "" if data.mss_bytes or acks.mss_bytes else " (further options are only in the handshake)"
    yield f"{mss_told(flow)}, {', '.join(options) or 'no options'}{handshake}"


def mss_told(flow: Flow) -> str:
    """Return a text about the MSS: its value, whether it is a guess, and the maximum of scenarios if that is
    smaller."""
    guess = ", a guess from the sizes of packets" if flow.is_mss_guess else ""
    most = MOST_MSS_BYTES
    capped = f", in the scenario {most:,} B, the maximum" if flow.mss > most else ""
    return f"segments of {flow.mss:,} B{guess}{capped}"


def _has_ecn(flow: Flow) -> bool:
    """Whether data are ECN-capable, or the handshake negotiated ECN (RFC 3168, section 6.1.1)."""
    opening = [one.flags[(one.flags & SYN) != 0] for one in (flow.data, flow.acks)]
    agreed = all(flags.size and (flags & ECE).any() for flags in opening)
    return agreed or bool((flow.data.ecn[flow.rows] > 0).any())


def _sent_again(flow: Flow) -> Iterator[str]:
    again = flow.retransmissions
    if again is None:
        why = "segments overlap in too many ways" if flow.is_too_fragmented else "data were not captured"
        yield f"retransmissions are not known, as {why}"
        return
    packets, spurious = int(again.packets.sum()), int(again.packets[again.is_spurious].sum())
    known = f", {spurious:,} of them spuriously" if spurious else ""
    doubtful = int(again.is_doubtful.sum())
    if doubtful:
        yield (
            f"at least {packets:,} packets retransmitted{known}: {doubtful:,} further segments that filled"
            " holes were retransmitted or overtaken; timestamps, IP identifications and times do not show"
            " which"
        )
    else:
        yield f"{packets:,} packets retransmitted{known}"
    if len(flow.duplicates):
        yield f"{len(flow.duplicates):,} duplicates reported (DSACK)"
    if again.is_late.any():
        yield f"{int(again.is_late.sum()):,} segments were overtaken by later segments"


def _receiver(flow: Flow) -> Iterator[str]:
    acks = flow.acks
    known = acks.window_bytes[(acks.window_bytes >= 0) & ((acks.flags & SYN) == 0)]
    if known.size:
        yield f"receive window of {known.min():,} to {known.max():,} B"
    closed = (acks.window_bytes == 0) & ((acks.flags & (SYN | FIN | RST)) == 0)
    if closed.any():
        times = int((np.diff(np.concatenate([[False], closed]).astype(int)) > 0).sum())
        yield f"the receiver closed its window {times:,} times"


def _marks(flow: Flow) -> Iterator[str]:
    marked = int((flow.data.ecn[flow.rows] == 3).sum())
    if marked:
        yield f"{marked:,} segments had a congestion mark where they were captured"
    echoes = int(((flow.acks.flags & (ACK | SYN | ECE)) == (ACK | ECE)).sum())
    if echoes and _has_ecn(flow):
        answers = int(((flow.data.flags & (SYN | CWR)) == CWR).sum())
        yield f"{echoes:,} ACKs echo congestion marks, and {answers:,} data segments answer with CWR"


def _of_file(capture: Capture, flows: Sequence[Flow], left_out: int) -> Iterator[str]:
    if len(flows) > _DESCRIBED:
        yield f"{len(flows) - _DESCRIBED:,} more flows are in the tables"
    if left_out or capture.others:
        yield f"{left_out + capture.others:,} directions or connections with less payload are left out"
    if capture.damage:
        yield f"not all of the file could be read: {capture.damage}"
    left = {
        "of link types that are not read": capture.left.other_link,
        "without IP": capture.left.not_ip,
        "without TCP": capture.left.not_tcp,
        "fragments of IP": capture.left.fragments,
        "cut before the end of the TCP header": capture.left.cut,
        "with lengths that contradict each other, or without a time": capture.left.damaged,
    }
    told = ", ".join(f"{count:,} {what}" for what, count in left.items() if count)
    if told:
        yield f"packets that are not used: {told}"
    if capture.set_back_s.size:
        yield (
            f"the clock was set back {capture.set_back_s.size:,} times, by up to"
            f" {capture.set_back_s.max():,.4g} s; later times are shifted to continue"
        )
    if capture.left_out_s:
        yield (
            "the packets span more than a day: pauses without an open connection are shortened to 1 s each,"
            f" by {capture.left_out_s:,.0f} s in total, and later times are shifted to continue"
        )
    yield "cwnd is an estimate: the bytes in flight after each burst of segments"
    yield "timeouts are inferred from retransmissions after a silence of 200 ms or more"
    yield "the path is unknown: its rate and delay are placeholders; `fullpipe twin` estimates them"


# Detection of pauses, in which no flow sends and the rate of the path is not visible.


def is_running(arrived: Floats, step_s: float, longest_rtt_s: float) -> npt.NDArray[np.bool_]:
    """Whether flows were running in each of consecutive steps, shape (n,).

    An arrival triggers an ACK, and the data that this ACK releases arrive at most one RTT after the first
    arrival. So in a time without arrivals, only the first RTT counts as running.

    Args:
        arrived: Amount that arrived in each step, shape (n,).
        step_s: Length of a step.
        longest_rtt_s: The longest RTT of the flows.
    """
    place = np.arange(arrived.size, dtype=np.int32)
    last = np.maximum.accumulate(np.where(arrived > 0, place, 0))
    return np.asarray(place - last <= math.ceil(longest_rtt_s / step_s))
