"""Columns of numbers as bytes: a header in JSON, then 4-byte floats, low byte first, column by column.

4 bytes   length of the header, low byte first, a multiple of 4
header    {"rows": 100, "columns": ["time_s", "goodput/0"]} and spaces
columns   each of so many floats, NaN where nothing was measured
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import polars as pl

_FLOAT = np.dtype("<f4")
_ALIGNED = 4


def packed(columns: Mapping[str, pl.Series]) -> bytes:
    """Columns of the same length as bytes.

    Raises:
        ValueError: If they are not of the same length.
    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns of {sorted(lengths)} rows")
    header = json.dumps({"rows": next(iter(lengths), 0), "columns": list(columns)}).encode()
    header += b" " * (-len(header) % _ALIGNED)
    parts = [column.cast(pl.Float64).to_numpy().astype(_FLOAT).tobytes() for column in columns.values()]
    return b"".join([len(header).to_bytes(4, "little"), header, *parts])
