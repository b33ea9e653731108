"""How tables become bytes."""

from __future__ import annotations

import polars as pl
import pytest

from fullpipe.runs import TABLES, encoding


@pytest.mark.parametrize("name", TABLES)
def test_no_table_that_threads_share_is_written(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[pl.DataFrame] = []
    encode = encoding.encoded

    def watched(table: pl.DataFrame) -> memoryview:
        written.append(table)
        return encode(table)

    monkeypatch.setattr(encoding, "encoded", watched)
    encoding._head.cache_clear()
    assert encoding.has_schema(name, encoding.empty(name), encode(pl.DataFrame(schema=TABLES[name].schema)))
    shared = encoding._without_rows(name)
    assert written
    assert all(table is not shared for table in (encoding.empty(name), *written))
