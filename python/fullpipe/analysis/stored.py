"""Tables of all runs of a store, with what tells the runs apart as columns."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.analysis.points import CONTENT, at, path_called
from fullpipe.analysis.values import column, value_text
from fullpipe.errors import ResultError, UnknownNameError, suggestion
from fullpipe.runs import PACKED, TABLES, Index, Run, Store, population
from fullpipe.runs.encoding import as_schema

RUNS = "runs"
NAMES = (RUNS, *TABLES)
"""The tables that there are: one row per run, and those of a run, each of all runs together."""
_ID, _FOLDER = "id", "folder"
_IDENTITY = ("scenario", "engine", "seed", "content")
"""Columns of every table; those of swept paths come before."""
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
    """The runs of a store, or some of them.

    Args:
        out: The store.
        where: What the runs have: values of columns, or lists of them. A column is one of the table of runs,
            or a path in their scenarios; the end of a path is enough where no other ends so. Values are
            spelt as in the scenario.
        content: "newest" leaves out runs whose files or model are not the newest of their scenario, with a
            warning, unless `where` names a content; "all" has every run.

    Raises:
        NoRunError: If there is no such folder.
        UnknownNameError: If no run has such a path.
        ValueError: If `content` is something else.
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
        """The number of runs of other content, by file; empty if there are none."""
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
        """Where the runs are."""
        return [Path(folder) for folder in self._runs[_FOLDER]]

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run."""
        return self._runs.drop(_ID)

    def per_run(self, name: str, sums: Mapping[str, pl.Expr]) -> pl.DataFrame:
        """The table of runs with more columns: what sums up the rows of a table of `PACKED`, of each run.

        Args:
            name: The table.
            sums: New columns, each an aggregation of the columns of the table.
        """
        rows = self._index.packed(name).group_by(_ID).agg(**sums)
        return self._runs.join(rows, on=_ID, how="left", maintain_order="left").drop(_ID)

    def rows(self, name: str, columns: Sequence[str], digests: pl.Series) -> pl.DataFrame:
        """Columns of a table of `PACKED`, of runs of some scenarios; digest, engine and seed come first."""
        some = self._runs.filter(pl.col("digest").is_in(digests.implode()))
        rows = self._index.packed(name).select(_ID, *columns)
        return some.select("digest", "engine", "seed", _ID).join(rows, on=_ID, how="inner").drop(_ID)

    @property
    def specs(self) -> pl.DataFrame:
        """The scenarios that were run: one row per digest, with the columns `digest` and `spec`, which is
        JSON."""
        return self._index.runs.select("digest", "spec").unique("digest", maintain_order=True)

    def table(self, name: str) -> pl.DataFrame:
        """A table of all runs together: `runs`, or one of a run.

        Raises:
            UnknownNameError: If there is none of that name.
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
        """A table that is in the folders of the runs."""
        empty = pl.DataFrame(schema={_ID: pl.Int64, **TABLES[name].schema})
        parts = [
            _of(folder, name).select(pl.lit(number, pl.Int64).alias(_ID), pl.all())
            for number, folder in self._runs.select(_ID, _FOLDER).iter_rows()
        ]
        return pl.concat([empty, *parts])


def _of(folder: str, name: str) -> pl.DataFrame:
    """A table of one run."""
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
    """One table over all runs of a store, as a polars frame.

    Args:
        name: "runs", one row per run; or a table of a run, such as "flows", "links", "series" or "transfers".
        where: Only of runs that have these values: a path or a column with a value, or a list of values.
        out: The store, such as the folder that `run` and `sweep` were given.
        content: "newest" leaves out runs whose files (algorithms, recordings) or model are not the newest of
            their scenario, with a warning; "all" has every run.

    Returns:
        The columns of the table, and before them one per path that was swept, `scenario`, `engine`, `seed`
        and `content`, which stands for the files that a run rests on and is empty without any. A swept path
        that has the name of another column begins with "swept.". Values of several types are text.

    Raises:
        NoRunError: If there is no such folder.
        UnknownNameError: If there is no such table, or no run has such a path.
        ResultError: If a table of a run is damaged.
    """
    return StoredRuns(out, where, content).table(name)


def _of_newest(root: Path, runs: pl.DataFrame) -> tuple[pl.Series, str]:
    """Return the numbers of the runs that count, and a sentence about the others."""
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
    """A row per run: what tells it apart, and the rest of the table of runs."""
    points = index.runs.select("digest", "point", "spec").unique(["digest", "point"], maintain_order=True)
    swept = json.loads(f"[{','.join(points['point'])}]")
    known = [_Point(point, spec) for point, spec in zip(swept, points["spec"], strict=True)]
    paths = list(dict.fromkeys(path for point in known for path in point.swept))
    named = {*paths, *index.runs.columns, _FOLDER}
    asked = [name for name in where if name not in named and not path_called(name, paths)]
    names = _apart([*paths, *asked])
    columns = {name: column([point.value(path) for point in known]) for path, name in names.items()}
    values = pl.DataFrame(columns, strict=False)
    keyed = pl.concat([points.select("digest", "point"), values], how="horizontal")
    folder = pl.format("{}/{}/{}-{}", pl.lit(str(index.root)), "digest", "engine", "seed")
    rows = index.runs.join(keyed, on=["digest", "point"], how="left", maintain_order="left")
    return rows.select(*values.columns, *_IDENTITY, *_OF_RUNS, _ID, folder.alias(_FOLDER))


class _Point:
    """The values of a run at paths: those that were swept, and any of its scenario."""

    def __init__(self, swept: Mapping[str, Any], spec: str) -> None:
        self.swept = swept
        self._spec = spec
        self._tree: Any = None

    def value(self, path: str) -> Any:
        """What a path has; nothing, if the scenario leaves it to its default."""
        if path in self.swept:
            return self.swept[path]
        if self._tree is None:
            self._tree = json.loads(self._spec)
        return at(self._tree, [int(key) if key.isdecimal() else key for key in path.split(".")])


def _apart(paths: Sequence[str]) -> dict[str, str]:
    """Columns for paths, none with the name of another one; in SQL their case makes no difference."""
    taken, names = set(_TAKEN), {}
    for path in paths:
        names[path] = path
        while names[path].casefold() in taken:
            names[path] = f"swept.{names[path]}"
        taken.add(names[path].casefold())
    return names


def _known(runs: pl.DataFrame) -> list[str]:
    """The columns by which runs can be chosen: paths that some run has, and those of the table of runs."""
    always = {*_IDENTITY, *_OF_RUNS, _FOLDER}
    some = (name for name in runs.columns if name in always or runs[name].null_count() < runs.height)
    return [name for name in some if name != _ID]


def _hint(runs: pl.DataFrame, name: str, wanted: Any, known: Sequence[str]) -> str:
    """What to say of a value that none of the runs has."""
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
    """The runs with a value, or one of several; `known` are the columns of all."""
    found, several = _column(name, known), _several(wanted)
    texts = {value_text(value) for value in several}
    right = [value for value in runs[found].unique() if value in several or value_text(value) in texts]
    return runs.filter(pl.col(found).is_in(pl.Series(right, dtype=runs.schema[found]).implode()))
