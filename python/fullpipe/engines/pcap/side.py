"""The position of a capture on the path of a connection, from the response times of both ends."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.connections import NO_ACK, Floats, Sent
from fullpipe.engines.pcap.headers import ACK, NONE, RST, SYN

_NEAR = 0.1
"""Largest share of the RTT up to which an end counts as the place of the capture."""


@dataclass(frozen=True)
class Side:
    """The position of a capture on the path of a flow."""

    name: str
    """sender, receiver, middle, or unknown."""
    sender_s: float | None
    """Smallest RTT between the point of capture and the sender; None if it was not seen."""
    receiver_s: float | None
    """Smallest RTT between the point of capture and the receiver; None if it was not seen."""
    handshake_s: float | None
    """RTT of the handshake: from the SYN to the ACK of the SYN-ACK."""
    is_idle: bool = False
    """Whether the RTT to the sender is unknown: the sender was idle at every ACK that it echoes, and the
    handshake was not captured."""


@dataclass(frozen=True)
class Echoes:
    """Timestamps of ACKs that data echo (RFC 7323, section 4.1), ordered by time, shape (n,)."""

    seen_s: Floats
    """Times at which the ACKs were captured."""
    took_s: Floats
    """Time from the ACK to the first data with its echo: at least the RTT to the sender."""
    is_prompt: npt.NDArray[np.bool_]
    """Whether the sender had data in flight at every ACK with that timestamp. Otherwise it can have been
    idle, so that the next data is later."""


def side_of(data: Sent, acks: Sent, answers_s: Floats) -> Side:
    """Return the position of the capture on the path of a flow.

    Args:
        data: Segments from the sender of data.
        acks: Segments from the receiver.
        answers_s: Times from data to its ACK, as captured, shape (n,).
    """
    of_sender, of_receiver, handshake_s = _handshake_s(data, acks)
    echoes = echoes_of(data, acks)
    sender_s, receiver_s = _least(of_sender, echoes.took_s), _least(of_receiver, answers_s)
    if sender_s is None or receiver_s is None or sender_s + receiver_s <= 0:
        return Side("unknown", sender_s, receiver_s, handshake_s)
    share = sender_s / (sender_s + receiver_s)
    if share <= _NEAR:
        return Side("sender", sender_s, receiver_s, handshake_s)
    if not of_sender and not echoes.is_prompt.any():
        return Side("unknown", None, receiver_s, handshake_s, is_idle=True)
    return Side("receiver" if share >= 1 - _NEAR else "middle", sender_s, receiver_s, handshake_s)


def echoes_of(data: Sent, acks: Sent) -> Echoes:
    """Return the timestamps of ACKs that data echo."""
    stamped = np.flatnonzero((acks.ts_val != NONE) & (acks.ack != NO_ACK))
    values, first, place = np.unique(acks.ts_val[stamped], return_index=True, return_inverse=True)
    acked = np.full(values.size, NO_ACK)
    np.maximum.at(acked, place, acks.ack[stamped])
    chosen = np.flatnonzero((data.ts_ecr != NONE) & (data.payload > 0) & ((data.flags & SYN) == 0))
    ends = data.seq[chosen] + data.payload[chosen]
    sent = np.concatenate([ends[:1], np.maximum.accumulate(ends)[:-1]])
    echoed, answer = np.unique(data.ts_ecr[chosen], return_index=True)
    _, here, there = np.intersect1d(values, echoed, assume_unique=True, return_indices=True)
    seen_s, answer = acks.time_s[stamped[first[here]]], answer[there]
    took_s = data.time_s[chosen[answer]] - seen_s
    is_prompt = (acked[here] < sent[answer]) & (ends[answer] > sent[answer])  # no RTO retransmission
    order = np.argsort(seen_s, kind="stable")
    order = order[took_s[order] >= 0]
    return Echoes(seen_s[order], took_s[order], is_prompt[order])


def _least(of_handshake: list[float], others: Floats) -> float | None:
    return min([*of_handshake, *([float(others.min())] if others.size else [])], default=None)


def _handshake_s(data: Sent, acks: Sent) -> tuple[list[float], list[float], float | None]:
    """Return the RTTs of the handshake: to the sender, to the receiver, and in total."""
    for client, server, sender_opened in ((data, acks, True), (acks, data, False)):
        syns = np.flatnonzero((client.flags & (SYN | ACK | RST)) == SYN)
        answers = np.flatnonzero((server.flags & (SYN | ACK)) == SYN | ACK)
        if syns.size != 1 or answers.size != 1:  # the answer to a retransmitted SYN is ambiguous
            continue
        done = np.flatnonzero((client.ack >= 0) & (client.ack != NO_ACK) & ((client.flags & SYN) == 0))
        to_server = float(server.time_s[answers[0]] - client.time_s[syns[0]])
        if not done.size or to_server < 0:
            continue
        to_client = float(client.time_s[done[0]] - server.time_s[answers[0]])
        if to_client < 0:
            continue
        halves = ([to_client], [to_server]) if sender_opened else ([to_server], [to_client])
        return *halves, to_client + to_server
    return [], [], None
