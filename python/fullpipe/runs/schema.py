"""The tables of a run: what every column is called, what it holds, and in which unit.

Every engine fills the same tables. A column that an engine cannot measure is null throughout.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from fullpipe.errors import ResultError

_TEXT, _COUNT, _REAL = pl.String(), pl.Int64(), pl.Float64()


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    dtype: pl.DataType
    unit: str
    what: str
    span: str = ""
    """The time that it is of, where that does not go without saying."""

    @property
    def meaning(self) -> str:
        """What it holds, and of which time."""
        return f"{self.what} ({self.span})" if self.span else self.what


@dataclass(frozen=True)
class Table:
    """A table of a run."""

    name: str
    row: str
    """What one row stands for."""
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pl.Schema:
        """Names and types, as polars has them."""
        return pl.Schema({column.name: column.dtype for column in self.columns})


def _text(name: str, meaning: str) -> Column:
    return Column(name, _TEXT, "", meaning)


def _count(name: str, what: str, span: str = "") -> Column:
    return Column(name, _COUNT, name.rsplit("_", 1)[-1], what, span)


def _real(name: str, what: str, span: str = "") -> Column:
    unit = {"s": "s", "bps": "bit/s"}.get(name.rsplit("_", 1)[-1], "1")
    return Column(name, _REAL, unit, what, span)


UNTIL_END = "after the warm-up, until end_s"
"""What a sender still sends after `end_s`, such as what was lost, is not in it."""
BEYOND_END = "after the warm-up, also after end_s"
"""What comes back after `end_s` is in it."""
MEASURED = "after the warm-up, until the end of the run"
_LINUX = "of connections on a kernel (engine linux)"


FLOWS = Table(
    "flows",
    "flow",
    (
        _text("flow", "name"),
        _text("cca", "congestion control algorithm; null for datagrams"),
        _text("protocol", "what carries it: tcp, udp or icmp"),
        _real("start_s", "when it began to send, jitter included"),
        _real(
            "end_s",
            "when its application stopped, its size was acknowledged, or the run ended, whichever came "
            "first; of a workload that opens connections, when after its stop the last transfer had "
            "finished; null if it never began. After a stop a sender still sends again what was lost: links, "
            "captured packets and meta.json count that, the columns until end_s do not",
        ),
        _count(
            "delivered_bytes",
            "payload delivered in order; of datagrams all that arrived, also after end_s",
            UNTIL_END,
        ),
        _real(
            "goodput_bps",
            "delivered_bytes over the time from start_s, or from the end of the warm-up if that is later",
            UNTIL_END,
        ),
        _real(
            "wire_bps",
            "all data packets sent with every header, retransmissions included, over the same time",
            UNTIL_END,
        ),
        _count("sent_packets", "data packets sent, retransmissions included", UNTIL_END),
        _count("retransmitted_packets", "data packets sent again", UNTIL_END),
        _count(
            "lost_packets",
            "data packets that the sender marked as lost; of datagrams those that never came though a later "
            "one did, there or, with an echo, back (RFC 3550, section 6.4.1), as seen at the end of the run",
            UNTIL_END,
        ),
        _count(
            "marked_packets",
            "data packets that arrived with a congestion mark, as acknowledgements have told the sender",
            UNTIL_END,
        ),
        _count(
            "refused_bytes", "payload that the application lost because the send buffer was full", UNTIL_END
        ),
        _real("rtt_min_s", f"smallest RTT sample; {_LINUX} of the whole connection", BEYOND_END),
        _real("rtt_mean_s", f"mean of the RTT samples; {_LINUX} smoothed", BEYOND_END),
        _real("rtt_p50_s", f"median of the RTT samples; {_LINUX} smoothed", BEYOND_END),
        _real("rtt_p95_s", f"95th percentile of the RTT samples; {_LINUX} smoothed", BEYOND_END),
        _real("rtt_p99_s", f"99th percentile of the RTT samples; {_LINUX} smoothed", BEYOND_END),
        _real("owd_mean_s", "mean one-way delay of datagrams that arrived; null for TCP", BEYOND_END),
        _real("owd_p50_s", "median of it", BEYOND_END),
        _real("owd_p95_s", "95th percentile of it", BEYOND_END),
        _real("owd_p99_s", "99th percentile of it", BEYOND_END),
        _real(
            "jitter_s",
            "interarrival jitter of datagrams (RFC 3550, section 6.4.1), mean over arrivals; null for TCP",
            BEYOND_END,
        ),
        _real(
            "fct_s",
            "from the start, in the warm-up or not, to the last acknowledgement; null if the flow has no "
            "size or did not finish",
        ),
        _real(
            "limited_cwnd", "share of the time in which the congestion window held the sender back", UNTIL_END
        ),
        _real("limited_pacing", "share of the time in which pacing held it back", UNTIL_END),
        _real("limited_application", "share of the time in which it had nothing to send", UNTIL_END),
        _real("limited_receiver", "share of the time in which the receive window held it back", UNTIL_END),
        _real("limited_send_buffer", "share of the time in which the send buffer held it back", UNTIL_END),
    ),
)
TRANSFERS = Table(
    "transfers",
    "transfer: a flow of a given size, or one of the many things that a workload sends or fetches, those "
    "that began during the warm-up included",
    (
        _text("flow", "name of the flow that it belongs to"),
        Column("number", _COUNT, "1", "in the order in which the transfers of the flow began, from 1"),
        Column("connection", _COUNT, "1", "in the order in which the flow opened them, from 1"),
        Column("page", _COUNT, "1", "the web page that it belongs to, from 1; null if it belongs to none"),
        _real("start_s", "when it began: when the connection was opened, or the request sent"),
        _real("end_s", "when it had finished or was given up, or the end of the run"),
        _count("bytes", "payload to transfer"),
        _count(
            "delivered_bytes",
            "payload of it that arrived in order; of a flow of a given size, here and in the next two, also "
            "what follows its stop",
        ),
        _count("sent_packets", "data packets sent for it, retransmissions included"),
        _count("retransmitted_packets", "data packets sent again"),
        _real("fct_s", "completion time, from start to end; null if it did not finish"),
        _real(
            "ideal_s",
            "a lower bound of it: the round trips that it cannot do without, unloaded, and the time that its "
            "data with every header takes at the slowest link",
        ),
    ),
)
VIDEOS = Table(
    "videos",
    "flow that plays a video; all columns are of the whole run, the warm-up included",
    (
        _text("flow", "name"),
        _real("startup_s", "from its start to the first picture; null if there was none"),
        _real("played_s", "video that was played"),
        _real("stalled_s", "time for which the picture stood still after it had begun to move (rebuffering)"),
        Column("stalls", _COUNT, "1", "how often it stood still"),
        Column("chunks", _COUNT, "1", "pieces that arrived whole"),
        _real("bitrate_bps", "mean of their bit rates; null if there was none"),
        Column("switches", _COUNT, "1", "how often a piece had another bit rate than the one before"),
    ),
)
PROBES = Table(
    "probes",
    "packet of a ping, a probe or a call, those sent during the warm-up included",
    (
        _real("time_s", "when it was sent"),
        _text("flow", "name"),
        _real("owd_s", "time until it arrived; null if it did not"),
        _real("rtt_s", "time until its reply arrived; null if none did, or none was asked for"),
    ),
)
LINKS_SUMMARY = Table(
    "links_summary",
    "link",
    (
        _text("link", "name"),
        _count("dropped_packets", "packets that the queue dropped or the link lost", MEASURED),
        _count("marked_packets", "packets that the queue marked", MEASURED),
        _count("forwarded_packets", "packets that left the link", MEASURED),
        _count("forwarded_bytes", "bytes that left the link, every header included", MEASURED),
        _real(
            "utilisation", "share of the time in which the link sent; null if the rate is unlimited", MEASURED
        ),
        _real("sojourn_mean_s", "mean time that a packet waited in the queue", MEASURED),
        _real("sojourn_p95_s", "95th percentile of it", MEASURED),
        _count("backlog_max_packets", "the most packets that ever waited", MEASURED),
    ),
)
SERIES = Table(
    "series",
    "sample and flow, from the start of the run to its end, also after end_s",
    (
        _real("time_s", "end of the interval"),
        _text("flow", "name"),
        _real("goodput_bps", "payload delivered in order in the interval, over its length"),
        _count("cwnd_bytes", "congestion window"),
        _count("in_flight_bytes", "payload sent and neither acknowledged nor known to be lost"),
        _real("srtt_s", "smoothed RTT; of pings and probes the mean of the replies in the interval"),
        _real("min_rtt_s", "smallest RTT of the last five minutes"),
        _real("pacing_bps", "pacing rate; null if there is none"),
        _real("delivery_bps", "latest delivery-rate sample"),
        _count("retransmitted_packets", "data packets sent again in the interval"),
        _text("state", "waiting, open, disorder, cwr, recovery, loss or done"),
    ),
)
LINKS = Table(
    "links",
    "sample and link, from the start of the run to its end",
    (
        _real("time_s", "end of the interval"),
        _text("link", "name"),
        _count("backlog_bytes", "bytes that wait"),
        _count("backlog_packets", "packets that wait"),
        _real("sojourn_s", "mean wait of the packets sent in the interval; null if there is none"),
        _count("dropped_packets", "packets dropped or lost in the interval"),
        _count("marked_packets", "packets marked in the interval"),
        _real("utilisation", "share of the interval in which the link sent; null if the rate is unlimited"),
    ),
)
VARIABLES = Table(
    "variables",
    "sample or change of a state, flow and variable",
    (
        _real("time_s", "when: at every sample, and whenever a state changes"),
        _text("flow", "name"),
        _text("name", "internal variable of the algorithm"),
        Column("value", _REAL, "see unit", "its value; null for a state"),
        _text("unit", "its unit; empty for a pure number and for a state"),
        _text("state", "name of the state; empty for a number"),
    ),
)
PACKETS = Table(
    "packets",
    "packet and point of capture",
    (
        Column("time_ns", _COUNT, "ns", "when it was sent, arrived, or was handed over by the link"),
        _text("point", "sender, receiver or the name of a link"),
        _text("flow", "name"),
        _text("kind", "syn, syn_ack, handshake_ack, data, ack, datagram, or reply to a datagram"),
        Column(
            "seq",
            _COUNT,
            "bytes",
            "first byte of payload, from 0; 0 without payload; of a datagram and its reply, its number",
        ),
        Column("len", _COUNT, "bytes", "payload"),
        Column("ack", _COUNT, "bytes", "every byte below has arrived; 0 unless it is an ACK"),
        Column("window", _COUNT, "bytes", "receive window, from ack on; 0 in what the sender sends"),
        _text("sacks", 'selective acknowledgements, as in "1448-2896 5792-7240"; empty if there are none'),
        Column("ts_val", _COUNT, "ms", "timestamp of whoever sent it"),
        Column("ts_ecr", _COUNT, "ms", "timestamp echoed"),
        Column("ce_count", _COUNT, "packets", "marked packets that the receiver has counted, modulo 65,536"),
        _text("flags", "any of psh, cwr, ece, and dsack (the first block reports a duplicate)"),
        _text("ecn", "not_ect, ect0, ect1 or ce"),
        Column("size", _COUNT, "bytes", "on the wire, every header included"),
    ),
)
TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (FLOWS, TRANSFERS, VIDEOS, PROBES, SERIES, LINKS, LINKS_SUMMARY, VARIABLES, PACKETS)
}


def frame(table: Table, columns: Mapping[str, Sequence[Any] | Any]) -> pl.DataFrame:
    """Columns that an engine measured, as a frame with the types and the order of the schema.

    NaN becomes null. A column that the engine leaves out is null.

    Raises:
        ResultError: If there is a column that the schema does not know, or one of another type.
    """
    unknown = set(columns) - set(table.schema)
    if unknown:
        raise ResultError(f"table {table.name} has no column {', '.join(sorted(unknown))}")
    rows = max((len(values) for values in columns.values()), default=0)
    try:
        return pl.DataFrame([_series(column, columns.get(column.name), rows) for column in table.columns])
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
        raise ResultError(f"table {table.name}: {error}") from error


def _series(column: Column, values: Any, rows: int) -> pl.Series:
    if values is None:
        return pl.Series(column.name, [None] * rows, dtype=column.dtype)
    return pl.Series(column.name, values, nan_to_null=True).cast(column.dtype)
