"""On which side of a path a connection was captured, by how long answers of either end take to come by."""

from dataclasses import dataclass

import numpy as np

from fullpipe.engines.pcap.connections import NO_ACK, Floats, Sent
from fullpipe.engines.pcap.headers import ACK, NONE, RST, SYN

_NEAR = 0.1
"""An end whose answers take less of the RTT is where the capture was taken."""


@dataclass(frozen=True)
class Side:
    """Where a flow was captured."""

    name: str
    """sender, receiver, middle, or unknown."""
    sender_s: float | None
    """The least time from the point of capture to the sender and back; None if it was not seen."""
    receiver_s: float | None
    """Likewise to the receiver."""
    handshake_s: float | None
    """RTT of the handshake: from the SYN to the ACK of the SYN-ACK."""


def side_of(data: Sent, acks: Sent, answers_s: Floats) -> Side:
    """The side on which a flow was captured.

    Args:
        data: What the sender of data sent.
        acks: What the receiver sent.
        answers_s: From data to its ACK, as captured, shape (n,).
    """
    of_sender, of_receiver, handshake_s = _handshake_s(data, acks)
    _, echoes_s = echoes(data, acks)
    sender_s, receiver_s = _least(of_sender, echoes_s), _least(of_receiver, answers_s)
    if sender_s is None or receiver_s is None or sender_s + receiver_s <= 0:
        return Side("unknown", sender_s, receiver_s, handshake_s)
    share = sender_s / (sender_s + receiver_s)
    name = "sender" if share <= _NEAR else "receiver" if share >= 1 - _NEAR else "middle"
    return Side(name, sender_s, receiver_s, handshake_s)


def echoes(data: Sent, acks: Sent) -> tuple[Floats, Floats]:
    """When ACKs came by, and how long after it the first data with an echo of their timestamp (RFC 7323)."""
    stamped = np.flatnonzero((acks.ts_val != NONE) & (acks.ack != NO_ACK))
    values, first = np.unique(acks.ts_val[stamped], return_index=True)
    chosen = np.flatnonzero((data.ts_ecr != NONE) & (data.payload > 0) & ((data.flags & SYN) == 0))
    echoed, answer = np.unique(data.ts_ecr[chosen], return_index=True)
    _, here, there = np.intersect1d(values, echoed, assume_unique=True, return_indices=True)
    seen_s, took_s = acks.time_s[stamped[first[here]]], data.time_s[chosen[answer[there]]]
    order = np.argsort(seen_s, kind="stable")
    took_s = (took_s - seen_s)[order]
    return seen_s[order][took_s >= 0], took_s[took_s >= 0]


def _least(of_handshake: list[float], others: Floats) -> float | None:
    return min([*of_handshake, *([float(others.min())] if others.size else [])], default=None)


def _handshake_s(data: Sent, acks: Sent) -> tuple[list[float], list[float], float | None]:
    """From the point of capture to the sender and back, and to the receiver and back, and both."""
    for client, server, sender_opened in ((data, acks, True), (acks, data, False)):
        syns = np.flatnonzero((client.flags & (SYN | ACK | RST)) == SYN)
        answers = np.flatnonzero((server.flags & (SYN | ACK)) == SYN | ACK)
        if syns.size != 1 or answers.size != 1:  # what answers one that was sent again is not known
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
