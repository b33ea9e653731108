"""IPv4 identification of captured packets: a counter per connection and end.

Linux counts the packets of a connection in the same way (`inet_id`; include/net/ip.h,
`ip_select_ident_segs`). The capture lacks the number, so packets are ordered by their TCP timestamp, and
those of one timestamp by their contents. A packet then has the same number at every point of capture.
"""

import polars as pl

_OF_STREAM = ("flow", "connection", "source")
_OF_PACKET = (*_OF_STREAM, "ts_val", "kind", "seq", "ack", "len", "sacks", "window")


def identities(packets: pl.DataFrame) -> pl.Series:
    """Return the identification of every row of the table `packets`, modulo 65,536; 0 without a timestamp."""
    keys = packets.select(*_OF_PACKET, "point").with_columns(
        pl.int_range(pl.len()).over("point", *_OF_PACKET).alias("copy")
    )
    order = ["ts_val", "seq", "ack", "copy"]
    known = keys.select(*_OF_PACKET, "copy").unique(maintain_order=True).sort(order, maintain_order=True)
    numbered = known.with_columns(
        (pl.int_range(1, pl.len() + 1).over(_OF_STREAM) % (1 << 16)).alias("number")
    )
    on = [*_OF_PACKET, "copy"]
    found = keys.join(numbered, on=on, how="left", nulls_equal=True, maintain_order="left")
    return found.select(pl.when(pl.col("ts_val").is_not_null()).then("number").otherwise(0))["number"]
