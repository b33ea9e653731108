"""One-way delays of a flow that was captured at both of its ends, by the clocks of both."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import NO_ACK, Floats, Sent
from fullpipe.engines.pcap.flow import Flow

_SAME = ("number", "stamp", "identity")
"""Columns by which a packet is known at either end. A super-packet has those of its first packet."""


@dataclass(frozen=True)
class OneWay:
    """Delays of packets that are in either capture once, in s."""

    there_s: Floats
    """Delays of data to the receiver, shape (n,)."""
    back_s: Floats
    """Delays of ACKs to the sender, shape (m,)."""

    @property
    def early_s(self) -> float:
        """The longest time by which a packet arrives before it was sent, as clocks differ; 0 without any."""
        return max(0.0, -float(np.concatenate([self.there_s, self.back_s]).min()))


def one_way_of(flow: Flow) -> OneWay | None:
    """The one-way delays of a flow; None if it was not captured at the sender and at the receiver."""
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
    """The segments with payload, by their first bytes."""
    return _packets(flow.data, flow.rows, flow.data.seq[flow.rows] + flow.data.zero)


def _acks(flow: Flow) -> pl.DataFrame:
    """The segments of the receiver, by what they acknowledge."""
    rows = np.flatnonzero(flow.acks.ack != NO_ACK)
    return _packets(flow.acks, rows, flow.acks.ack[rows] + flow.data.zero)


def _packets(sent: Sent, rows: Ints, numbers: Ints) -> pl.DataFrame:
    """Packets that a capture has once."""
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
