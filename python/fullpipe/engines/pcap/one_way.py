"""One-way delays of a flow that was captured at both ends, from the clocks of both captures."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import NO_ACK, Floats, Sent
from fullpipe.engines.pcap.flow import Flow

_SAME = ("number", "stamp", "identity")
"""Columns that identify a packet in both captures. A super-packet has those of its first packet."""


@dataclass(frozen=True)
class OneWay:
    """Delays of packets that are in both captures exactly once, in s."""

    there_s: Floats
    """Delays of data to the receiver, shape (n,)."""
    back_s: Floats
    """Delays of ACKs to the sender, shape (m,)."""

    @property
    def early_s(self) -> float:
        """Longest time by which a packet arrives before it was sent, as clocks differ; 0 if none does."""
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
    """Return the segments with payload, identified by their first bytes."""
    return _packets(flow.data, flow.rows, flow.data.seq[flow.rows] + flow.data.zero)


def _acks(flow: Flow) -> pl.DataFrame:
    """Return the segments of the receiver, identified by their acknowledgements."""
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
