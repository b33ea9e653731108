"""Values of runs: metrics and courses of means, computed once and stored beside the runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import flow_groups
from fullpipe.analysis.metrics.groups import ECHOES
from fullpipe.analysis.metrics.table import NOT_OF_ECHOES, measured_rows
from fullpipe.lazy import LOADED_NS
from fullpipe.runs import Run
from fullpipe.runs.encoding import checksum, encoded
from fullpipe.runs.entries import Stream
from fullpipe.runs.meta import version
from fullpipe.runs.population import recordings_in
from fullpipe.runs.segments import FOLDER, VALUES, DamagedError, Segment, add, paths
from fullpipe.runs.writer import FEW, Writer

LABELS = pl.Schema(
    {"kind": pl.String(), "of": pl.String(), "metric": pl.String(), "unit": pl.String(), "entry": pl.Int64()}
)
"""Columns that describe a value: its metric, unit, and flow group or link."""
_SHAPES = pl.Schema({"shape": pl.Int64(), **LABELS})
_RUNS = pl.Schema({"id": pl.Int64(), "shape": pl.Int64(), "values": pl.List(pl.Float64())})
_MANY = 8
"""Number of files with values of the same `Question` beyond which the files are merged."""
_MOST = 64
"""Maximum number of cache files in a store. Above this limit, the oldest files are removed."""
_BYTES_A_RUN = 1 << 16
"""Maximum bytes read per run. Reading more bytes would take as long as computing a few values."""
_SOURCES = ("algorithms", "analysis", "runs", "scenario")
"""Subpackages whose code affects the values. Top-level modules affect the values, too; see the layers in
pyproject.toml."""
_PACKAGES = ("fullpipe", "numpy", "polars", "scipy")
_PACKAGE = Path(__file__).parents[1]
_UNSURE_NS = 1_000_000_000
"""Maximum delay with which a file system records times, in ns."""


Labelled = Sequence[tuple[tuple[Any, ...], float | None]]
"""Pairs of labels and a value of a run. The labels are the values of the columns in `LABELS`."""


@dataclass(frozen=True)
class Question:
    """The values that are requested of every run.

    Args:
        metrics: Names of metrics. None: all metrics.
        links: Names of links. None: all links that forwarded or dropped packets.
        subject: "metrics", or another kind of values, for which `metrics` and `links` are None.
    """

    metrics: frozenset[str] | None = None
    links: frozenset[str] | None = None
    subject: str = "metrics"

    def text(self, code: str) -> bytes:
        """Return the question with the version of the code, as JSON."""
        names = [None if names is None else sorted(names) for names in (self.metrics, self.links)]
        return json.dumps([code, *names, self.subject]).encode()

    def is_answered_by(self, text: bytes, code: str) -> bool:
        """Whether the values of another question, computed by this code, include the values of this
        question."""
        with suppress(ValueError, TypeError, RecursionError):
            by, metrics, links, subject = json.loads(text)
            is_same = (by, subject) == (code, self.subject)
            is_same = is_same and links == (None if self.links is None else sorted(self.links))
            return is_same and (metrics is None or (self.metrics is not None and self.metrics <= {*metrics}))
        return False


@dataclass(frozen=True)
class Packed:
    """Values of runs in compact form. Runs whose values have the same labels share a `shape`."""

    runs: pl.DataFrame
    """The columns `id`, `shape` and `values`, which is a list."""
    shapes: pl.DataFrame
    """The column `shape` and the columns of `LABELS`: a row per value, in the order of `values`."""

    @classmethod
    def from_runs(cls, runs: Sequence[tuple[int, Labelled]]) -> Packed:
        """Pack the values of runs. Each run is given by its ID, and by pairs of labels and a value."""
        shapes: dict[tuple[tuple[Any, ...], ...], int] = {}
        labels = (tuple(each for each, _ in of_run) for _, of_run in runs)
        numbers = [shapes.setdefault(of_run, len(shapes)) for of_run in labels]
        values = [[None if value is None else float(value) for _, value in of_run] for _, of_run in runs]
        table = pl.DataFrame([[number for number, _ in runs], numbers, values], schema=_RUNS)
        rows = [(shape, *each) for of_shape, shape in shapes.items() for each in of_shape]
        return cls(table, pl.DataFrame(rows, schema=_SHAPES, orient="row"))

    def rows(self, runs: pl.DataFrame) -> pl.DataFrame:
        """Return a row per value.

        Args:
            runs: The column `id` of the wanted runs, and other columns to repeat in every row.

        Returns:
            The other columns of `runs`, the columns of `LABELS`, and `value`, in the order of the runs.
        """
        wanted = runs.join(self.runs, on="id", how="inner", maintain_order="left").drop("id")
        wanted = wanted.filter(pl.col("values").list.len() > 0)
        labels = wanted.drop("values").join(self.shapes, on="shape", how="left", maintain_order="left_right")
        return labels.drop("shape").with_columns(value=wanted["values"].explode())

    @property
    def is_whole(self) -> bool:
        """Whether both tables have the expected columns and match each other. The check is needed because a
        store may come from an untrusted source."""
        if (self.runs.schema, self.shapes.schema) != (_RUNS, _SHAPES):
            return False
        sizes = self.shapes.group_by("shape").len()
        both = self.runs.select("shape", n=pl.col("values").list.len()).join(sizes, on="shape", how="left")
        fits = (pl.col("n") == pl.col("len").fill_null(0)).all()
        return self.runs["id"].is_unique().all() and bool(both.select(fits).item())


def read(root: Path, question: Question, numbers: Collection[int]) -> Iterator[Packed]:
    """Yield the cached values of runs, in parts. Each run is in at most one part."""
    left, files = pl.Series("id", numbers, dtype=pl.Int64).unique(), paths(root, VALUES)
    ours = code() if files else None
    for path in files:
        if left.is_empty() or ours is None:
            return
        with suppress(DamagedError):
            segment = Segment.read(path)
            is_large = segment.size > _BYTES_A_RUN * len(numbers)
            if is_large or not question.is_answered_by(segment.content("asked"), ours):
                continue
            found = _packed(segment)
            packed = Packed(found.runs.filter(pl.col("id").is_in(left.implode())), found.shapes)
            left = left.filter(~left.is_in(packed.runs["id"].implode()))
            yield packed


def write(root: Path, question: Question, packed: Packed) -> None:
    """Write values of many runs into a store's index, if the store has one. Values that another version of
    the code computed are removed."""
    if packed.runs.height <= FEW or not (root / FOLDER).is_dir() or (ours := code()) is None:
        return
    with suppress(OSError), closing(Writer(root)) as writer:  # the store can be read-only
        text = question.text(ours)
        same = _make_room(root, text, ours)
        parts = [packed]
        if len(same) >= _MANY:
            for segment in same:
                with suppress(DamagedError):
                    parts.append(_packed(segment))
        tables: dict[str, Stream] = {"asked": text, **_encoded(_together(parts))}
        written = add(root, writer.open(), tables, VALUES)
        if len(parts) > 1:
            for segment in same:
                if segment.path != written.path:
                    segment.path.unlink(missing_ok=True)


def _make_room(root: Path, asked: bytes, code: str) -> list[Segment]:
    """Remove files that another version of the code wrote, and the oldest files beyond the limit. Return the
    files of the same question."""
    same, others = list[Segment](), list[Segment]()
    for path in paths(root, VALUES):
        try:
            segment = Segment.read(path)
            text = segment.content("asked")
            if json.loads(text)[0] != code:
                raise DamagedError(path)
        except (DamagedError, ValueError, TypeError, LookupError, RecursionError):
            path.unlink(missing_ok=True)
            continue
        (same if text == asked else others).append(segment)
    others.sort(key=lambda segment: -_changed_ns(segment.path))
    for segment in others[_MOST - _MANY :]:
        segment.path.unlink(missing_ok=True)
    return same


def _changed_ns(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mtime_ns
    return 0


def _packed(segment: Segment) -> Packed:
    """Return the values in a cache file.

    Raises:
        DamagedError: If the file is damaged, or its tables do not fit each other.
    """
    found = Packed(segment.table("runs"), segment.table("shapes"))
    if not found.is_whole:
        raise DamagedError(segment.path)
    return found


def _encoded(packed: Packed) -> dict[str, Stream]:
    return {"runs": encoded(packed.runs), "shapes": encoded(packed.shapes)}


def _together(parts: Sequence[Packed]) -> Packed:
    """Merge values. If several parts have a run, the values of the first part count."""
    runs, shapes, first = [], [], 0
    for part in parts:
        runs.append(part.runs.with_columns(pl.col("shape") + first))
        shapes.append(part.shapes.with_columns(pl.col("shape") + first))
        known = pl.concat([part.runs["shape"], part.shapes["shape"]]).to_list()
        first += 1 + max(known, default=0)
    return Packed(pl.concat(runs).unique("id", keep="first", maintain_order=True), pl.concat(shapes))


def code() -> str | None:
    """Return a hash of the code that computes values: versions, and sizes and times of the source files.

    None if a source file has changed since this process loaded the package, as the process may run older
    code.
    """
    folders = [_PACKAGE, *(_PACKAGE / name for name in _SOURCES)]
    files = sorted(file for folder in folders for file in _files(folder, is_deep=folder != _PACKAGE))
    if any(changed_ns > LOADED_NS - _UNSURE_NS for *_, changed_ns in files):
        return None
    told = [sys.version, *(f"{name} {version(name)}" for name in _PACKAGES), *map(str, files)]
    return checksum("\n".join(told).encode())[:32]


def _files(folder: Path, *, is_deep: bool) -> Iterator[tuple[str, int, int, int]]:
    """Yield the paths, sizes and times (mtime and ctime) of the modules in a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".so", ".pyd")):
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns, found.st_ctime_ns
            elif is_deep and entry.is_dir():
                yield from _files(Path(entry.path), is_deep=True)


# Values of many runs: read from their store if they are there, otherwise computed and stored.


RUN = "number of run"
"""Column with the index of a run in a list; no path has this name."""


def measurements(
    runs: Sequence[Run], metrics: Collection[str] | None = None, links: Collection[str] | None = None
) -> pl.DataFrame:
    """Return the measured values of runs, one row per value.

    Args:
        runs: The runs.
        metrics: Names of measures. Default: all. Measures without `is_of_echoes`, such as goodput, have no
            rows for pings and probes.
        links: Names of links. Default: the busy links of every run.

    Returns:
        `number of run`, `kind`, `of`, `metric`, `unit`, `entry` and `value`, in the order of the runs; see
        `fullpipe.analysis.values.values_of`.
    """
    asked, at = (None if names is None else frozenset(names) for names in (metrics, links))
    question = Question(asked, at)
    return _meaningful(answers(runs, question, lambda run: _of_run(run, question)), runs)


def answers(runs: Sequence[Run], question: Question, compute: Callable[[Run], Labelled]) -> pl.DataFrame:
    """Return values of runs, one row per value. Values that no store has are computed and stored.

    Args:
        runs: The runs. Values of `FEW` runs or fewer are never read from a store, but computed.
        question: The requested values.
        compute: Function that computes the values of a run.

    Returns:
        `number of run`, the columns of `LABELS`, and `value`, in the order of the runs.
    """
    found = list(_stored(runs, question)) if len(runs) > FEW else []
    known = {place for rows, places in found for place in places}
    todo = [place for place in range(len(runs)) if place not in known]
    packed = Packed.from_runs([(place, compute(runs[place].apart())) for place in todo])
    made = packed.rows(pl.DataFrame({"id": todo, RUN: todo}, schema={"id": pl.Int64, RUN: pl.Int64}))
    if len(todo) > FEW:
        _store([runs[place] for place in todo], question, packed)
    parts = [rows for rows, _ in found]
    if not parts:
        return made
    table = pl.concat([made, *parts])
    if question.metrics is not None:
        table = table.filter(pl.col("metric").is_in([*question.metrics]))
    return table.sort(RUN, maintain_order=True)


def _meaningful(table: pl.DataFrame, runs: Sequence[Run]) -> pl.DataFrame:
    """Remove the rows of pings and probes for metrics that are meaningless for them."""
    by_place: dict[str, list[int]] = {}
    echoes: list[tuple[int, int]] = []
    for place, run in enumerate(runs):
        if run.place not in by_place:
            by_place[run.place] = _echoes(run.meta.scenario)
        echoes += [(place, entry) for entry in by_place[run.place]]
    if not echoes:
        return table
    senseless = pl.DataFrame(echoes, {RUN: pl.Int64, "entry": pl.Int64}, orient="row")
    names = pl.DataFrame({"metric": sorted(NOT_OF_ECHOES)})
    keys = [RUN, "entry", "metric"]
    return table.join(senseless.join(names, how="cross"), on=keys, how="anti", maintain_order="left")


def _echoes(scenario: Mapping[str, Any]) -> list[int]:
    """Return the entries of `flows` that are pings or probes."""
    workloads = [flow.get("workload") for flow in scenario.get("flows", [])]
    kinds = [each.get("kind") if isinstance(each, Mapping) else each for each in workloads]
    return [entry for entry, kind in enumerate(kinds) if kind in ECHOES]


def _of_run(run: Run, question: Question) -> Labelled:
    """Return the values of a run, each with its kind, group or link, metric, unit and entry."""
    entries = {name: entry for entry, name in enumerate(flow_groups(run))}
    return [
        ((kind, of, metric, unit, entries.get(of) if kind == "flows" else None), value)
        for kind, of, metric, value, unit in measured_rows(run, question.links, question.metrics)
    ]


def _stored(runs: Sequence[Run], question: Question) -> Iterator[tuple[pl.DataFrame, list[int]]]:
    """Yield stored values: rows, and the indices of their runs."""
    by_root: dict[str, list[tuple[int, int]]] = {}
    for place, run in enumerate(runs):
        if run.number is not None and run.root is not None:
            by_root.setdefault(run.root, []).append((run.number, place))
    for root, wanted in by_root.items():
        table = pl.DataFrame(wanted, schema={"id": pl.Int64, RUN: pl.Int64}, orient="row")
        for packed in read(Path(root), question, table["id"].to_list()):
            here = table.join(packed.runs, on="id", how="semi")
            yield packed.rows(here), here[RUN].to_list()


def _store(runs: Sequence[Run], question: Question, packed: Packed) -> None:
    """Write the values of runs into the stores of the runs. `packed` has the values in the order of
    `runs`."""
    by_root: dict[str, list[tuple[int, int]]] = {}
    are_plain: dict[str, bool] = {}
    for place, run in enumerate(runs):
        if run.number is None or run.root is None:
            continue
        if run.place not in are_plain:  # values need the recordings, which may be gone later
            are_plain[run.place] = not any(recordings_in(run.meta.scenario))
        if are_plain[run.place]:
            by_root.setdefault(run.root, []).append((run.number, place))
    for root, kept in by_root.items():
        places = [place for _, place in kept]
        ids = pl.Series("id", [number for number, _ in kept], dtype=pl.Int64)
        own = packed.runs[places].with_columns(ids).unique("id", keep="first", maintain_order=True)
        write(Path(root), question, Packed(own, packed.shapes))


# Many runs as one long table: a row per run, group of flows or link, and metric.


IDENTITY = ("seed", "engine")
"""Columns that distinguish the runs of a point."""
MEASURED = ("kind", "entry", "of", "metric", "value", "unit")
"""Columns of measured values. These columns follow the columns of swept paths and of `IDENTITY`."""
_PLAIN = (bool, int, float, str)


def values_of(
    runs: Iterable[tuple[Mapping[str, Any], Run]],
    metrics: Collection[str] | None = None,
    links: Collection[str] | None = None,
) -> pl.DataFrame:
    """Return the measured values of runs with their points in a sweep, one row per value.

    Args:
        runs: Points, such as `Job.point`, and their runs.
        metrics: Names of measures. Default: all.
        links: Names of links. Default: the busy links of every run.

    Returns:
        A column for every swept path or key of variants, `seed`, `engine`, and `kind` ("flows" or "link"),
        `entry` (the index in the scenario's `flows`; null for all flows together and for links), `of` (the
        name of the group or link), `metric`, `value` (null if unknown) and `unit`.
    """
    pairs = list(runs)
    if not pairs:
        return pl.DataFrame(schema=dict.fromkeys((*IDENTITY, *MEASURED), pl.String))
    told = _table([_identity(point, run) for point, run in pairs])
    made = measurements([run for _, run in pairs], metrics, links)
    table = made.join(told, on=RUN, how="left", maintain_order="left")
    return table.select(*(name for name in told.columns if name != RUN), *MEASURED)


def identities(runs: Iterable[tuple[Mapping[str, Any], Run]]) -> pl.DataFrame:
    """Return one row per run, in the order of `runs`: the columns of `values_of` before the measured
    values."""
    return _table([_identity(point, run) for point, run in runs]).drop(RUN)


def _identity(point: Mapping[str, Any], run: Run) -> dict[str, Any]:
    return {**point, "seed": run.seed, "engine": run.engine.name}


def _table(points: list[dict[str, Any]]) -> pl.DataFrame:
    """Return one row per run and one column per path. Tables and values of mixed types become text."""
    names = dict.fromkeys(name for point in points for name in point)
    columns = {name: column([point.get(name) for point in points]) for name in names}
    return pl.DataFrame({RUN: range(len(points)), **columns}, schema_overrides={RUN: pl.Int64})


def column(values: list[Any]) -> list[Any]:
    """Return the values of a swept path as a column of one type: integers and floats as floats, other mixed
    types as text."""
    kinds = {type(value) for value in values if value is not None}
    if (len(kinds) <= 1 and kinds <= set(_PLAIN)) or kinds == {int, float}:
        return [float(value) if kinds == {int, float} and value is not None else value for value in values]
    return [None if value is None else value_text(value) for value in values]


def value_text(value: Any) -> str:
    """Return a value of a sweep as text; a table becomes its values without keys.

    >>> value_text({"kind": "drop_tail", "packets": 50})
    'drop_tail 50'
    """
    return " ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
