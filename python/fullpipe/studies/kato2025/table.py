"""Table II of the paper beside our numbers."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.quantities import interval_of
from fullpipe.studies.text import Aligned
from fullpipe.studies.transcription import Transcription

FLOWS = 16
SIGNS = {"above": ">", "below": "<", "at_least": "≥", "at_most": "≤"}
ALGORITHM, EXPERIMENT = "BBRv1", "sixteen flows"
ROWS = {
    "mean_mbps": "mean",
    "sd_mbps": "std dev",
    "total_mbps": "total",
    "below_1": "flows < 1 Mbit/s",
    "jain": "Jain",
}
CLIPPED = (
    "Intervals are truncated at the bounds of a quantity: Jain at 1/n and 1, numbers of flows at 0 and n, "
    "all others at 0."
)
TABLE_SCHEMA = {
    "buffer_packets": pl.Int64,
    "quantity": pl.String,
    "printed_ns3_3_40": pl.String,
    "printed_ns3_3_44": pl.String,
    "sockets": pl.String,
    "runs": pl.Int64,
    "ours": pl.Float64,
    "ours_low": pl.Float64,
    "ours_high": pl.Float64,
}


def comparison(source: Transcription, found: Measurements) -> pl.DataFrame:
    """Return printed values beside ours, one row per buffer, quantity and setting of the socket buffers.

    See `CLIPPED`.
    """
    rows = []
    for buffer in found.choices(EXPERIMENT, "buffer"):
        for quantity in ROWS:
            theirs = [printed_cell(source, int(buffer), quantity, f"ns-3 {v}") for v in ("3.40", "3.44")]
            for sockets in found.choices(EXPERIMENT, "sockets"):
                where = {"buffer": buffer, "sockets": sockets}
                values = found.at(EXPERIMENT, quantity, ALGORITHM, where)
                if values:
                    ours = (len(values), *_interval(values, quantity))
                    rows.append((buffer, quantity, *theirs, sockets, *ours))
    return pl.DataFrame(rows, schema=TABLE_SCHEMA, orient="row")


def printed_cell(source: Transcription, buffer: int, quantity: str, simulator: str) -> str:
    """Return the printed value, "" if there is none; an index that follows from printed numbers is in
    brackets."""
    if (quantity, simulator) == ("jain", "ns-3 3.40"):
        mean, sd = (_printed(source, buffer, name, simulator) for name in ("mean_mbps", "sd_mbps"))
        assert mean
        assert sd
        assert mean.between
        assert sd.between
        return f"({jain(mean.between.middle, sd.between.middle):.2f})"
    claim = _printed(source, buffer, quantity, simulator)
    return "" if claim is None else _cell(claim)


def jain(mean: float, sd: float) -> float:
    """Jain's index from a mean m and a sample standard deviation s: 1 / (1 + s² (n-1)/n / m²)."""
    return 1 / (1 + sd**2 * (FLOWS - 1) / FLOWS / mean**2)


def table_text(comparison: pl.DataFrame, sockets: Sequence[str]) -> Aligned:
    """Return Table II, printed and ours, rates in Mbit/s."""
    header = ["buffer", "Mbit/s", "3.40", "3.44", *(f"ours, {name}" for name in sockets)]
    rows = [header]
    for (buffer, quantity), group in comparison.group_by("buffer_packets", "quantity", maintain_order=True):
        cells = {row["sockets"]: _ours(row, str(quantity)) for row in group.iter_rows(named=True)}
        first = group.row(0, named=True)
        packets = f"{buffer} packets" if quantity == next(iter(ROWS)) else ""
        theirs = [first["printed_ns3_3_40"], first["printed_ns3_3_44"]]
        rows.append([packets, ROWS[str(quantity)], *theirs, *(cells.get(name, "") for name in sockets)])
    return Aligned(rows, right=range(2, len(header)))


def _printed(source: Transcription, buffer: int, quantity: str, simulator: str) -> Claim | None:
    key = (buffer, quantity, simulator)
    found = [c for c in source.claims if (c.where.get("buffer"), c.quantity, c.simulator) == key]
    return found[0] if found else None


def _cell(claim: Claim) -> str:
    if claim.between is None:
        return ", ".join(f"{SIGNS[bound]} {value:g}" for bound, value in claim.what.items())
    low, high, middle = claim.between.low, claim.between.high, claim.between.middle
    if claim.unit == "flows":
        return f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}"
    return f"{middle:.1f}" if high - low < 1 else f"~{middle:.0f}"


def _interval(values: Sequence[float], quantity: str) -> tuple[float, float | None, float | None]:
    """Return our mean and its 95 % interval, truncated at the bounds of the quantity."""
    mean, found = sum(values) / len(values), interval_of(quantity, values)
    if found is None:
        return mean, None, None
    limits = {"jain": (1 / FLOWS, 1.0), "below_1": (0.0, float(FLOWS))}
    within = found.clipped(*limits.get(quantity, NO_LESS_THAN_0))
    return mean, within.low, within.high


def _ours(row: dict[str, float], quantity: str) -> str:
    digits = 3 if quantity == "jain" else 1
    mean = f"{row['ours']:.{digits}f}"
    if row["ours_low"] is None:
        return mean
    return f"{mean} [{row['ours_low']:.{digits}f}, {row['ours_high']:.{digits}f}]"
