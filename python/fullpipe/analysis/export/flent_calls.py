"""Series of a call in a Flent file: one-way delay, jitter, loss and rate."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from fullpipe.analysis.export.flent_points import MS, Points, at
from fullpipe.runs import Run

_KBPS = 1e-3


def call_points(run: Run, flow: str, origin_s: float) -> Mapping[str, Points]:
    """Return every series of a call; `origin_s` is the start of the run in seconds since 1970.

    As in irtt and Flent, jitter is the absolute delay variation between consecutive packets (RFC 3393,
    section 4.6), and loss is the number of lost packets in every step.
    """
    packets = run.probes.filter(pl.col("flow") == flow).select("time_s", "owd_s").rows()
    rows = run.series.filter(pl.col("flow") == flow)
    ends_s = rows["time_s"].to_list()
    rates = zip(ends_s, (rows["goodput_bps"].fill_null(0.0) * _KBPS).to_list(), strict=True)
    made = {
        "VoIP": (list(_packets(packets)), "ms"),
        "VoIP::delay": ([{"t": t + owd, "val": owd * MS} for t, owd in packets if owd is not None], "ms"),
        "VoIP::jitter": (list(_jitters(packets)), "ms"),
        "VoIP::loss": (list(_losses(packets, ends_s)), "count"),
        "VoIP::bitrate": ([{"t": time_s, "val": rate} for time_s, rate in rates], "Kbits/s"),
    }
    return {name: at(raw, origin_s, unit, {"RUNNER": _runner(name)}) for name, (raw, unit) in made.items()}


def _runner(name: str) -> str:
    return "NullRunner" if "::" in name else "IrttRunner"


def _packets(packets: list[tuple[float, float | None]]) -> Iterator[dict[str, Any]]:
    """Yield every packet with the fields that irtt reports for one direction."""
    for seq, (time_s, owd_s) in enumerate(packets):
        if owd_s is None:
            yield {"t": time_s, "seq": float(seq), "lost": True, "lost_dir": "up"}
        else:
            yield {"t": time_s + owd_s, "seq": float(seq), "owd_up": owd_s * MS}


def _jitters(packets: list[tuple[float, float | None]]) -> Iterator[dict[str, Any]]:
    for (_, before_s), (time_s, owd_s) in pairwise(packets):
        if before_s is not None and owd_s is not None:
            yield {"t": time_s + owd_s, "val": abs(owd_s - before_s) * MS}


def _losses(packets: list[tuple[float, float | None]], ends_s: list[float]) -> Iterator[dict[str, Any]]:
    """Yield the number of lost packets of every step, at the end of the step."""
    lost_s = iter([time_s for time_s, owd_s in packets if owd_s is None])
    next_s = next(lost_s, None)
    for end_s in ends_s:
        count = 0
        while next_s is not None and next_s < end_s:
            count, next_s = count + 1, next(lost_s, None)
        yield {"t": end_s, "val": float(count)}
