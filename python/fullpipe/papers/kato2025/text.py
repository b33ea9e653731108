"""The printed report: a table, the verdicts, and what the socket buffers do."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fullpipe.papers.kato2025.printed import Paper
from fullpipe.papers.kato2025.table import ROWS, Ours
from fullpipe.papers.text import aligned, shortened, tally
from fullpipe.papers.verdicts import RULE

MIB = 1 << 20

LARGE, BOTH, RECEIVE = "large", "1 MiB both", "1 MiB receive"
"""Settings of the socket buffers: never a limit; sending and receiving limited; receiving limited."""


def table_text(comparison: pl.DataFrame, sockets: Sequence[str]) -> str:
    """Table II, theirs and ours, rates in Mbit/s."""
    header = ["buffer", "Mbit/s", "3.40", "3.44", *(f"ours, {name}" for name in sockets)]
    rows = [header]
    for (buffer, quantity), group in comparison.group_by("buffer_packets", "quantity", maintain_order=True):
        cells = {row["sockets"]: _ours(row, str(quantity)) for row in group.iter_rows(named=True)}
        first = group.row(0, named=True)
        packets = f"{buffer} packets" if quantity == next(iter(ROWS)) else ""
        theirs = [first["printed_ns3_3_40"], first["printed_ns3_3_44"]]
        rows.append([packets, ROWS[str(quantity)], *theirs, *(cells.get(name, "") for name in sockets)])
    return aligned(rows, right=range(2, len(header)))


def _ours(row: dict[str, float], quantity: str) -> str:
    digits = 3 if quantity == "jain" else 1
    mean = f"{row['ours']:.{digits}f}"
    if row["ours_low"] is None:
        return mean
    return f"{mean} [{row['ours_low']:.{digits}f}, {row['ours_high']:.{digits}f}]"


def verdict_text(verdicts: pl.DataFrame, sockets: Sequence[str]) -> str:
    """A verdict per printed number and claim, for every setting of the socket buffers."""
    rows = [["where", "printed", *(f"sockets: {name}" for name in sockets)]]
    for (where,), group in verdicts.group_by("where", maintain_order=True):
        of = {row["sockets"]: row for row in group.iter_rows(named=True)}
        cells = [_verdict(of[name]) for name in sockets]
        rows.append([str(where), shortened(of[sockets[0]]["printed"]), *cells])
    counts = []
    for name in sockets:
        counts.append(f"sockets {name}: " + tally(verdicts.filter(pl.col("sockets") == name)["verdict"]))
    return aligned(rows) + "\n\n" + "\n".join(counts) + "\n\nThe rule, in this order:\n" + RULE


def _verdict(row: dict[str, float | str]) -> str:
    return f"{row['ours']:.4g}: {row['verdict']}" if row["ours"] is not None else str(row["verdict"])


def cap_text(source: Paper, ours: Ours, socket_bytes: int) -> str:
    """What a socket buffer of this size does to the table, in our numbers."""
    cap = 8e-6 * socket_bytes / source.rtt_s
    small = source.buffers[0]
    low, high = (f"{count * cap:.0f}" for count in (9, 10))

    def mean(sockets: str, quantity: str) -> str:
        values = ours.at(small, sockets, quantity)
        return f"{sum(values) / len(values):.0f}" if values else "?"

    return (
        f"A socket buffer of {socket_bytes / MIB:g} MiB lets a flow have that much in flight, so over "
        f"{source.rtt_s * 1e3:g} ms none can exceed {cap:.1f} Mbit/s, and BBR's upper pacing level is 1.25 "
        f"times that, {1.25 * cap:.0f} Mbit/s: the ceiling of Fig. 4. Nine or ten flows that live under that "
        f"cap move at most {low} to {high} Mbit/s, which is the printed 60 %: the cap and the number of "
        f"starved flows bound those totals, not BBR, which at {small} packets moves "
        f"{mean(LARGE, 'total_mbps')} Mbit/s here with large sockets and {mean(RECEIVE, 'total_mbps')} with "
        f"a receive buffer of 1 MiB. A send buffer of 1 MiB does more: the sender looks idle, so "
        f"BBR ignores low samples, as Linux has it, keeps pacing bursts at a stale rate (a median of "
        f"{mean(BOTH, 'pacing_cruise')} Mbit/s) and moves {mean(BOTH, 'total_mbps')} Mbit/s."
    )
