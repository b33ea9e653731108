"""Tables as streams of Arrow IPC without polars: the same values, types and order as polars reads."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

from fullpipe import _native
from fullpipe.runs.encoding import encoded

FRAME = pl.DataFrame(
    {
        "flow": ["a", None, "a name of more than twelve bytes"],
        "packets": [1, None, -(2**63)],
        "rate_bps": [1.5, None, float("inf")],
        "gone": [True, None, False],
    }
)
COLUMNS: list[tuple[str, str, list[Any]]] = [
    (name, kind, FRAME[name].to_list())
    for name, kind in zip(FRAME.columns, ("text", "count", "real", "flag"), strict=True)
]


def test_columns_are_those_of_polars() -> None:
    assert _native.columns(bytes(encoded(FRAME))) == FRAME.to_dict(as_series=False)


@pytest.mark.parametrize("level", [0, 1])
def test_texts_of_every_encoding_are_read(level: int) -> None:
    data = FRAME.write_ipc_stream(None, compat_level=pl.CompatLevel._with_version(level)).getvalue()
    assert _native.columns(data)["flow"] == FRAME["flow"].to_list()


def test_polars_reads_what_is_written() -> None:
    assert pl.read_ipc_stream(_native.stream(COLUMNS)).equals(FRAME)


def test_tables_are_joined_in_order_with_their_numbers() -> None:
    one, two = bytes(encoded(FRAME)), _native.stream(COLUMNS)
    joined = pl.read_ipc_stream(_native.joined([one, two], [7, -7]))
    assert joined["id"].to_list() == [7, 7, 7, -7, -7, -7]
    assert joined.drop("id").equals(pl.concat([FRAME, FRAME]))


def test_each_row_has_the_number_of_its_table_whatever_the_parts_of_its_stream() -> None:
    twice = pl.concat([FRAME, FRAME], rechunk=False)
    older = FRAME.write_ipc_stream(None, compat_level=pl.CompatLevel.oldest()).getvalue()
    frames = [FRAME, twice, FRAME.clear(), FRAME, FRAME.head(1)]
    streams = [_native.stream(COLUMNS), *(bytes(encoded(each)) for each in frames[1:3]), older]
    streams.append(bytes(encoded(frames[4])))
    joined = pl.read_ipc_stream(_native.joined(streams, [*range(5)]))
    assert joined["id"].to_list() == [0] * 3 + [1] * 6 + [3] * 3 + [4]
    assert joined.drop("id").equals(pl.concat(frames))


@pytest.mark.parametrize(
    "frame",
    [FRAME.rename({"flow": "link"}), FRAME.drop("gone"), FRAME.with_columns(pl.col("packets").cast(float))],
    ids=["name", "number", "type"],
)
def test_tables_with_other_columns_are_not_joined(frame: pl.DataFrame) -> None:
    with pytest.raises(ValueError, match="different columns"):
        _native.joined([bytes(encoded(FRAME)), bytes(encoded(frame))], [1, 2])


def test_no_tables_are_not_joined() -> None:
    with pytest.raises(ValueError, match="no table"):
        _native.joined([], [])


def test_a_column_of_another_type_is_refused() -> None:
    data = bytes(encoded(pl.DataFrame({"day": ["2026-01-01"]}).with_columns(pl.col("day").str.to_date())))
    with pytest.raises(ValueError, match="a column has the type Date32"):
        _native.columns(data)


@pytest.mark.parametrize("data", [b"", b"no stream", b"PAR1"])
def test_bytes_that_are_no_stream_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no table of texts"):
        _native.columns(data)


def test_every_truncated_stream_is_refused_or_has_fewer_rows() -> None:
    whole = bytes(encoded(FRAME))
    for size in range(len(whole)):
        try:
            found = _native.columns(whole[:size])
        except ValueError:
            continue
        assert {len(values) for values in found.values()} <= {0, 3}


def test_changed_bytes_are_refused_or_are_a_table() -> None:
    whole, drawn = bytes(encoded(FRAME)), random.Random(1)
    refused = 0
    for _ in range(1_000):
        changed = bytearray(whole)
        for _ in range(drawn.randrange(1, 4)):
            changed[drawn.randrange(len(changed))] = drawn.randrange(256)
        try:
            _native.joined([whole, bytes(changed)], [1, 2])
        except ValueError:
            refused += 1
    assert 0 < refused < 1_000


def test_a_value_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError):
        _native.stream([("packets", "count", ["1"])])
