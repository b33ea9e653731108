"""SQL over all runs of a store, by DuckDB without access to files or the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.stored import NAMES, StoredRuns
from fullpipe.errors import MissingExtraError, QueryError
from fullpipe.runs.population import NEWEST

if TYPE_CHECKING:
    import polars as pl

_CONFIG = {
    "enable_external_access": "false",  # no files, no extensions, no network
    "python_enable_replacements": "false",  # no variables of the caller as tables
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",  # nothing is written when memory is short
    "lock_configuration": "true",
}


def query(sql: str, out: str | Path = "runs", content: str = NEWEST) -> pl.DataFrame:
    """Return the result of an SQL query over all runs of a store.

    Args:
        sql: One SELECT over the tables of `fullpipe.table`: `runs`, `flows`, `links`, `series`, `transfers`
            and so on. Put a column with a dot in its name into double quotes, as in
            `select "flows.0.cca", avg(goodput_bps) from flows group by 1`.
        out: The store.
        content: See `fullpipe.table`.

    Raises:
        MissingExtraError: If DuckDB is not installed.
        NoRunError: If there is no such folder.
        QueryError: If the query is not one SELECT, or has an error.
        ResultError: If a table of a run is damaged.
    """
    duckdb = _duckdb()
    with duckdb.connect(":memory:", config=_CONFIG) as connection:
        try:
            statements = connection.extract_statements(sql)
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                raise QueryError("only one SELECT is allowed")
            stored, words = StoredRuns(out, content=content), set(re.findall(r"\w+", sql.casefold()))
            for name in words.intersection(NAMES):  # the others are not read
                connection.register(name, stored.table(name).to_arrow())
            return _frame(connection.sql(sql).to_arrow_table())
        except duckdb.Error as error:
            raise QueryError(" ".join(str(error).split())) from None


def _frame(answer: Any) -> pl.DataFrame:
    """Return the answer as a frame. A query may name several columns alike; these are numbered."""
    import polars as pl

    names: list[str] = []
    for name in answer.column_names:
        names.append(name if name not in names else f"{name}_{len(names)}")
    try:
        return pl.DataFrame(pl.from_arrow(answer.rename_columns(names)))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise QueryError(
            "a column is neither a number nor text, a time or a list; cast it to text: x::text"
        ) from None


def _duckdb() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401 (DuckDB returns tables through it)
    except ImportError as error:
        told = f"a query needs {error.name}, which is not installed; pip install 'fullpipe[query]' brings it"
        raise MissingExtraError(told) from None
    return duckdb
