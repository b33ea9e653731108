"""The printed report: a table, the verdicts, and what the socket buffers do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import polars as pl

from fullpipe.papers.kato2025.printed import Paper
from fullpipe.papers.kato2025.table import ROWS
from fullpipe.papers.verdicts import RULE

MIB = 1 << 20


def wrapped(sentences: str) -> str:
    """Prose in lines of a hundred characters."""
    return textwrap.fill(sentences, 100)


def aligned(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Rows of words in columns; the columns of these numbers to the right. The first row is underlined."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        cells = [
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join([line(rows[0]), "  ".join("-" * w for w in widths), *(line(row) for row in rows[1:])])


def table_text(comparison: pl.DataFrame, sockets: Sequence[str]) -> str:
    """Table II, theirs and ours, rates in Mbit/s."""
    header = ["buffer", "Mbit/s", "3.40", "3.44", *(f"ours, {name} sockets" for name in sockets)]
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
    """A verdict per printed number and claim, for both sizes of socket buffers."""
    rows = [["where", "printed", *(f"{name} sockets" for name in sockets)]]
    for (where,), group in verdicts.group_by("where", maintain_order=True):
        of = {row["sockets"]: row for row in group.iter_rows(named=True)}
        cells = [_verdict(of[name]) for name in sockets]
        rows.append([str(where), _short(of[sockets[0]]["printed"]), *cells])
    counts = []
    for name in sockets:
        tally = verdicts.filter(pl.col("sockets") == name)["verdict"].value_counts(sort=True)
        counts.append(f"{name} sockets: " + ", ".join(f"{n} {verdict}" for verdict, n in tally.iter_rows()))
    return aligned(rows) + "\n\n" + "\n".join(counts) + "\n\nThe rule, in this order:\n" + RULE


def _verdict(row: dict[str, float | str]) -> str:
    return f"{row['ours']:.4g}: {row['verdict']}" if row["ours"] is not None else str(row["verdict"])


def _short(text: str, width: int = 48) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def cap_text(source: Paper, comparison: pl.DataFrame, socket_bytes: int) -> str:
    """What a socket buffer of this size does to the table."""
    cap = 8e-6 * socket_bytes / source.rtt_s

    def total(sockets: str) -> str:
        chosen = (pl.col("quantity") == "total_mbps") & (pl.col("sockets") == sockets)
        found = comparison.filter(chosen & (pl.col("buffer_packets") == source.buffers[0]))["ours"]
        return f"{found.item():.0f}" if len(found) == 1 else "?"

    low, high = (f"{count * cap:.0f}" for count in (9, 10))
    return (
        f"A socket buffer of {socket_bytes / MIB:g} MiB lets a flow have that much in flight, so over "
        f"{source.rtt_s * 1e3:g} ms none can exceed {cap:.1f} Mbit/s, and BBR's upper pacing level is 1.25 "
        f"times that, {1.25 * cap:.0f} Mbit/s: the ceiling of Fig. 4. Nine or ten flows that live under that "
        f"cap move at most {low} to {high} Mbit/s, which is the printed 60 %: the cap and the number of "
        f"starved flows bound those totals, not BBR, which at {source.buffers[0]} packets fills "
        f"{total('large')} Mbit/s here with large sockets and {total('1 MiB')} Mbit/s with 1 MiB."
    )
