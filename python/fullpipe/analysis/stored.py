"""Tables of stored runs, and SQL over them."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.analysis.points import CONTENT, at, path_called
from fullpipe.analysis.values import column, value_text
from fullpipe.errors import MissingExtraError, QueryError, ResultError, UnknownNameError, suggestion
from fullpipe.runs import PACKED, TABLES, Index, Run, Store, population
from fullpipe.runs.encoding import as_schema
from fullpipe.runs.population import NEWEST

# Tables over all runs of a store, with columns that identify the runs.


RUNS = "runs"
NAMES = (RUNS, *TABLES)
"""Names of the tables: `runs`, with one row per run, and every table of a run, with the rows of all runs."""
_ID, _FOLDER = "id", "folder"
_IDENTITY = ("scenario", "engine", "seed", "content")
"""Columns of every table; the columns of swept paths come before them."""
_OF_RUNS = (
    "digest",
    "version",
    "model_version",
    "duration_s",
    "wall_s",
    "cpu_s",
    "data_packets",
    "started",
    "files",
    "bytes",
)
"""Columns that only the table of runs has; `folder` comes last."""
_TAKEN = {
    name.casefold()
    for name in (_ID, _FOLDER, *_IDENTITY, *_OF_RUNS, *(n for t in TABLES.values() for n in t.schema))
}


class StoredRuns:
    """The runs of a store that match a filter.

    Args:
        out: The store.
        where: Filter by columns: for each column a value or a list of values. A column is a column of the
            table of runs, or a path in the scenarios of the runs. The last keys of a path are enough if only
            one path ends with them. Values are spelt as in the scenario.
        content: "newest" leaves out runs whose files or model are not the newest of their scenario, with a
            warning, unless `where` names a content; "all" includes every run.

    Raises:
        NoRunError: If there is no such folder.
        UnknownNameError: If no run has such a path.
        ValueError: If `content` has another value.
    """

    def __init__(
        self,
        out: str | Path = "runs",
        where: Mapping[str, Any] | None = None,
        content: str = population.NEWEST,
    ) -> None:
        if content not in population.CHOICES:
            raise ValueError(f"content: expected one of {', '.join(population.CHOICES)}, got {content!r}")
        self._index = Store(Path(out)).index()
        for line in self._index.damaged:
            warnings.warn(f"{line}; it is left out", stacklevel=2)
        self._runs = _told(self._index, where or {})
        counted, self.left_out = _of_newest(Path(out), self._index.runs)
        """Sentence about the runs that were left out because their content is not the newest; empty if there
        are none."""
        if content == population.NEWEST and CONTENT not in (where or {}):
            self._runs = self._runs.filter(pl.col(_ID).is_in(counted.implode()))
            if self.left_out:
                warnings.warn(self.left_out, stacklevel=2)
        known, self.hints = _known(self._runs), list[str]()
        for name, wanted in (where or {}).items():
            left = _chosen(self._runs, name, wanted, known)
            if left.is_empty() and not self._runs.is_empty():
                self.hints.append(_hint(self._runs, name, wanted, known))
            self._runs = left

    @property
    def folders(self) -> list[Path]:
        """Folders of the runs."""
        return [Path(folder) for folder in self._runs[_FOLDER]]

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run."""
        return self._runs.drop(_ID)

    def per_run(self, name: str, sums: Mapping[str, pl.Expr]) -> pl.DataFrame:
        """Return the table of runs with further columns that aggregate each run's rows of a packed table.

        Args:
            name: A table of `PACKED`.
            sums: New columns, each an aggregation of the columns of the table.
        """
        rows = self._index.packed(name).group_by(_ID).agg(**sums)
        return self._runs.join(rows, on=_ID, how="left", maintain_order="left").drop(_ID)

    def rows(self, name: str, columns: Sequence[str], digests: pl.Series) -> pl.DataFrame:
        """Return columns of a table of `PACKED` for the runs of some scenarios; the columns digest, engine
        and seed come first."""
        some = self._runs.filter(pl.col("digest").is_in(digests.implode()))
        rows = self._index.packed(name).select(_ID, *columns)
        return some.select("digest", "engine", "seed", _ID).join(rows, on=_ID, how="inner").drop(_ID)

    @property
    def specs(self) -> pl.DataFrame:
        """The scenarios that were run, one row each: the columns `digest` and `spec` (JSON)."""
        return self._index.runs.select("digest", "spec").unique("digest", maintain_order=True)

    def table(self, name: str) -> pl.DataFrame:
        """Return the table `runs`, or a table of a run with the rows of all runs.

        Raises:
            UnknownNameError: If there is no table of that name.
            ResultError: If a table of a run is damaged.
        """
        if name not in NAMES:
            raise UnknownNameError("table", name, NAMES)
        if name == RUNS:
            return self.runs
        rows = self._index.packed(name) if name in PACKED else self._read(name)
        told = self._runs.drop(*_OF_RUNS, _FOLDER)
        return told.join(rows, on=_ID, how="inner", maintain_order="left_right").drop(_ID)

    def _read(self, name: str) -> pl.DataFrame:
        """Read a table that is stored in the folders of the runs."""
        empty = pl.DataFrame(schema={_ID: pl.Int64, **TABLES[name].schema})
        parts = [
            _of(folder, name).select(pl.lit(number, pl.Int64).alias(_ID), pl.all())
            for number, folder in self._runs.select(_ID, _FOLDER).iter_rows()
        ]
        return pl.concat([empty, *parts])


def _of(folder: str, name: str) -> pl.DataFrame:
    """Read a table of one run."""
    try:
        return as_schema(name, Run.load(folder).tables[name])
    except ResultError as error:
        told = str(error)
        raise ResultError(told if folder in told else f"{folder}: {told}") from None


def table(
    name: str,
    where: Mapping[str, Any] | None = None,
    out: str | Path = "runs",
    content: str = population.NEWEST,
) -> pl.DataFrame:
    """Return one table over all runs of a store, as a polars frame.

    Args:
        name: "runs", one row per run; or a table of a run, such as "flows", "links", "series" or "transfers".
        where: Include only runs with these values: a path or column with a value or a list of values.
        out: The store: the folder that was given to `run` or `sweep`.
        content: "newest" leaves out runs whose files (algorithms, recordings) or model are not the newest of
            their scenario, with a warning; "all" includes every run.

    Returns:
        The columns of the table, after one column per swept path, `scenario`, `engine`, `seed` and `content`.
        `content` identifies the files that a run depends on, and is empty for a run without files. A swept
        path with the name of another column is prefixed with "swept.". Values of mixed types are text.

    Raises:
        NoRunError: If there is no such folder.
        UnknownNameError: If there is no such table, or no run has such a path.
        ResultError: If a table of a run is damaged.
    """
    return StoredRuns(out, where, content).table(name)


def _of_newest(root: Path, runs: pl.DataFrame) -> tuple[pl.Series, str]:
    """Return the ids of the runs with the newest content, and a sentence about all other runs."""
    has_files = bool((runs["files"] != "{}").any())
    keys = ["scenario", "engine", "model_version", "files", *(["point"] if has_files else [])]
    groups = runs.group_by(keys, maintain_order=True).agg(pl.col("started").max(), pl.len())
    sources = []
    for scenario, engine, model, files, *point, started, count in groups.iter_rows():
        by_file = population.by_file(json.loads(files), json.loads(point[0]) if point else {})
        sources.append(population.Source(scenario, engine, model, by_file, started, count))
    found = population.newest(sources, population.read_asked(root))
    counted = groups.filter(pl.Series(found.counts, dtype=pl.Boolean)).select(keys)
    return runs.join(counted, on=keys, how="semi")[_ID], found.left_out


def _told(index: Index, where: Mapping[str, Any]) -> pl.DataFrame:
    """Return one row per run: its swept values, and the columns of the table of runs."""
    points = index.runs.select("digest", "point", "spec").unique(["digest", "point"], maintain_order=True)
    swept = json.loads(f"[{','.join(points['point'])}]")
    known = [_Point(point, spec) for point, spec in zip(swept, points["spec"], strict=True)]
    paths = list(dict.fromkeys(path for point in known for path in point.swept))
    named = {*paths, *index.runs.columns, _FOLDER}
    others = (name for name in where if name not in named and not path_called(name, paths))
    asked = [_full(name, known) for name in others]
    names = _apart([*paths, *asked])
    columns = {name: column([point.value(path) for point in known]) for path, name in names.items()}
    values = pl.DataFrame(columns, strict=False)
    keyed = pl.concat([points.select("digest", "point"), values], how="horizontal")
    folder = pl.format("{}/{}/{}-{}", pl.lit(str(index.root)), "digest", "engine", "seed")
    rows = index.runs.join(keyed, on=["digest", "point"], how="left", maintain_order="left")
    return rows.select(*values.columns, *_IDENTITY, *_OF_RUNS, _ID, folder.alias(_FOLDER))


class _Point:
    """Values of a run by path: the values of swept paths, and of all other paths of the scenario."""

    def __init__(self, swept: Mapping[str, Any], spec: str) -> None:
        self.swept = swept
        self._spec = spec

    @cached_property
    def tree(self) -> Any:
        """The scenario as plain data."""
        return json.loads(self._spec)

    def value(self, path: str) -> Any:
        """Return the value at a path; None if the scenario leaves it at its default."""
        if path in self.swept:
            return self.swept[path]
        return at(self.tree, [int(key) if key.isdecimal() else key for key in path.split(".")])


def _full(name: str, points: Sequence[_Point]) -> str:
    """Return the only path in the scenarios that ends with a name; of several such paths, the only one whose
    values differ between points. Otherwise the name."""
    found: dict[str, list[str]] = {}
    if all(point.value(name) is None for point in points):
        for point in points:
            for path, value in _leaves(point.tree):
                if path.endswith(f".{name}"):
                    found.setdefault(path, []).append(value_text(value))
    differing = [path for path, of in found.items() if len(of) < len(points) or len(set(of)) > 1]
    named = [*found] if len(found) == 1 else differing
    return named[0] if len(named) == 1 else name


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of a scenario with its path."""
    parts = tree.items() if isinstance(tree, Mapping) else enumerate(tree) if isinstance(tree, list) else ()
    if not isinstance(tree, Mapping | list):
        yield path, tree
    for key, part in parts:
        yield from _leaves(part, f"{path}.{key}" if path else str(key))


def _apart(paths: Sequence[str]) -> dict[str, str]:
    """Return unique column names for paths; names are compared without case because SQL ignores case."""
    taken, names = set(_TAKEN), {}
    for path in paths:
        names[path] = path
        while names[path].casefold() in taken:
            names[path] = f"swept.{names[path]}"
        taken.add(names[path].casefold())
    return names


def _known(runs: pl.DataFrame) -> list[str]:
    """Return the columns by which runs can be filtered: paths that some run has, and the columns of the table
    `runs`."""
    always = {*_IDENTITY, *_OF_RUNS, _FOLDER}
    some = (name for name in runs.columns if name in always or runs[name].null_count() < runs.height)
    return [name for name in some if name != _ID]


def _hint(runs: pl.DataFrame, name: str, wanted: Any, known: Sequence[str]) -> str:
    """Return a message about a value that no run has."""
    there = [value_text(value) for value in runs[_column(name, known)].drop_nulls().unique().sort()]
    given = ", ".join(map(value_text, _several(wanted)))
    return f"{name}={given}: no run has this value{suggestion(given, there)}"


def _column(name: str, known: Sequence[str]) -> str:
    found = name if name in known else path_called(name, known)
    if found is None:
        raise UnknownNameError("path", name, known)
    return found


def _several(wanted: Any) -> Sequence[Any]:
    return list(wanted) if isinstance(wanted, list | tuple | set | range) else [wanted]


def _chosen(runs: pl.DataFrame, name: str, wanted: Any, known: Sequence[str]) -> pl.DataFrame:
    """Return the runs that have the wanted value, or one of several wanted values; `known` are the columns of
    all runs."""
    found, several = _column(name, known), _several(wanted)
    texts = {value_text(value) for value in several}
    right = [value for value in runs[found].unique() if value in several or value_text(value) in texts]
    return runs.filter(pl.col(found).is_in(pl.Series(right, dtype=runs.schema[found]).implode()))


# SQL over all runs of a store, by DuckDB without access to files or the network.


_CONFIG = {
    "enable_external_access": "false",  # no files, no extensions, no network
    "python_enable_replacements": "false",  # no variables of the caller as tables
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",  # no files, even if memory is short
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
            for name in words.intersection(NAMES):  # other tables are not read
                connection.register(name, stored.table(name).to_arrow())
            return _frame(connection.sql(sql).to_arrow_table())
        except duckdb.Error as error:
            raise QueryError(" ".join(str(error).split())) from None


def _frame(answer: Any) -> pl.DataFrame:
    """Return the answer as a frame. Columns with the same name get numbers."""
    names: list[str] = []
    for name in answer.column_names:
        names.append(name if name not in names else f"{name}_{len(names)}")
    try:
        return pl.DataFrame(pl.from_arrow(answer.rename_columns(names)))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise QueryError(
            "a column is not a number, text, a time or a list; cast the column to text, as in x::text"
        ) from None


def _duckdb() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401 (DuckDB returns tables through it)
    except ImportError as error:
        told = f"a query needs {error.name}, which is not installed; pip install 'fullpipe[query]' brings it"
        raise MissingExtraError(told) from None
    return duckdb
