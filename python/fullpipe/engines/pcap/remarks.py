"""Remarks on a capture, one line each: findings on its flows beyond the tables, and what is missing."""

from collections.abc import Iterator, Sequence

import numpy as np

from fullpipe.engines.pcap.capture import Capture
from fullpipe.engines.pcap.flow import Flow
from fullpipe.engines.pcap.headers import ACK, CWR, ECE, FIN, RST, SYN
from fullpipe.engines.pcap.one_way import one_way_of
from fullpipe.scenario.model.tcp import MOST_MSS_BYTES

_DESCRIBED = 8
"""Number of flows with a remark each."""


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
        parts.append(f"{flow.connection.views} interfaces saw it, and the nearest to the sender is used")
    return f"{flow.name}: {'; '.join(parts)}"


def _place(flow: Flow) -> Iterator[str]:
    side = flow.side
    if side.is_idle:
        yield (
            "where it was captured is not known, and so no RTT: the sender was idle at every ACK that it"
            " echoes, and the handshake was not captured"
        )
    elif side.name == "unknown" or side.sender_s is None or side.receiver_s is None:
        yield "where it was captured is not known: one direction says nothing of the other"
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
    handshake = "" if data.mss_bytes or acks.mss_bytes else " (without the handshake others are not seen)"
    yield f"{mss_told(flow)}, {', '.join(options) or 'no options'}{handshake}"


def mss_told(flow: Flow) -> str:
    """Return the text on the MSS: its value, whether it is a guess, and the cap of scenarios."""
    guess = ", a guess by the sizes of packets" if flow.is_mss_guess else ""
    most = MOST_MSS_BYTES
    capped = f", of which scenarios have {most:,} B at most" if flow.mss > most else ""
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
            f"{packets:,} packets or more retransmitted{known}: {doubtful:,} segments that filled holes were"
            " dropped before or overtaken, and no timestamp, identification of IP or time tells which"
        )
    else:
        yield f"{packets:,} packets retransmitted{known}"
    if len(flow.duplicates):
        yield f"{len(flow.duplicates):,} duplicates reported (DSACK)"
    if again.is_late.any():
        yield f"{int(again.is_late.sum()):,} segments were overtaken by others"


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
        yield f"{echoes:,} ACKs echo marks, and {answers:,} segments answer"


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
            f" {capture.set_back_s.max():,.4g} s; times behind go on from there"
        )
    if capture.left_out_s:
        yield (
            "the packets span more than a day: times without an open connection are shortened to 1 s each, by"
            f" {capture.left_out_s:,.0f} s together, and times behind go on from there"
        )
    yield "cwnd is an estimate: what was in flight whenever something had been sent"
    yield "timeouts are seen as bytes that are retransmitted after a silence of 200 ms or more"
    yield "the path is not known: rate and delay here are placeholders; `fullpipe twin` estimates them"
