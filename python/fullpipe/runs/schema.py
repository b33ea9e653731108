"""The schema of the tables of a run: name, type, unit and meaning of every column.

The native simulator declares the tables (`crates/simulation/src/tables`), and all engines fill them. Columns
that an engine cannot measure are null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fullpipe import _native
from fullpipe.errors import ResultError
from fullpipe.lazy import pl

DTYPES: Mapping[str, str] = {"text": "String", "count": "Int64", "real": "Float64", "flag": "Boolean"}
"""Names of polars types, by the kind of a column."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    kind: str
    """Kind of the values: "text", "count" (whole numbers), "real" or "flag"."""
    unit: str
    what: str
    span: str = ""
    """Time span over which the values are measured; empty if obvious."""

    @property
    def dtype(self) -> pl.DataType:
        """The type of the values in polars."""
        made: pl.DataType = getattr(pl, DTYPES[self.kind])()
        return made

    @property
    def meaning(self) -> str:
        """Meaning of the values, with their time span."""
        return f"{self.what} ({self.span})" if self.span else self.what


@dataclass(frozen=True)
class Table:
    """A table of a run."""

    name: str
    row: str
    """Object that one row describes, such as "flow"."""
    columns: tuple[Column, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def schema(self) -> pl.Schema:
        """The polars schema of the table."""
        return pl.Schema({column.name: column.dtype for column in self.columns})


def _table(declared: _native.TableSchema) -> Table:
    columns = (Column(c["name"], c["kind"], c["unit"], c["meaning"], c["span"]) for c in declared["columns"])
    return Table(declared["name"], declared["row"], tuple(columns))


SCHEMA_VERSION: int = _native.SCHEMA_VERSION
"""Version of the tables. The version changes if the name, type or meaning of a column changes. New columns
and tables do not change the version."""
TABLES: Mapping[str, Table] = {declared["name"]: _table(declared) for declared in _native.tables()}
"""The tables of a run by name, each with its columns."""


def frame(table: Table, columns: Mapping[str, Sequence[Any] | Any]) -> pl.DataFrame:
    """Return measured columns as a frame. The order and the types of the columns are those of the schema.

    NaN becomes null, and values of count columns are rounded. Missing columns are null.

    Raises:
        ResultError: If a column is not in the schema, or has another type.
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
    series = pl.Series(column.name, values, nan_to_null=True)
    if column.kind == "count" and series.dtype.is_float():
        series = series.round()
    return series.cast(column.dtype)
