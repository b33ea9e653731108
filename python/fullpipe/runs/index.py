"""The index of a store: its runs and their summaries, so that commands need not open every folder.

The folders are decisive. A digest's folder whose modification time is unchanged since it was listed contains
the same runs; others are listed again. Whatever the index lacks is read from the runs, and damaged files of
the index are ignored.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.errors import ResultError
from fullpipe.runs import order
from fullpipe.runs.encoding import decoded, encoded
from fullpipe.runs.entries import FOUND, ID, LISTED, RUNS, Stream, found_stream, schema_of
from fullpipe.runs.kept import PACKED, as_today
from fullpipe.runs.listing import look
from fullpipe.runs.meta import DIGEST, ENGINE
from fullpipe.runs.segments import DamagedError, Segment, add, paths
from fullpipe.runs.writer import Writer

_MANY = 8
"""If the index has more files than this, small ones are combined."""
_KEY = ("digest", "engine", "seed")
_PART = "part"


@dataclass(frozen=True)
class _Part:
    """Tables of the index, in a file or in memory."""

    runs: pl.DataFrame
    listed: pl.DataFrame
    table: Callable[[str], pl.DataFrame]
    segment: Segment | None = None

    @property
    def is_found(self) -> bool:
        """Whether it has the table by which runs are found. Files of older versions have none."""
        return self.segment is not None and "found" in self.segment


@dataclass(frozen=True)
class Index:
    """The finished runs of a store."""

    root: Path
    runs: pl.DataFrame
    """One row per run, with the columns of `entries.RUNS`. Scenarios are in the order in which they were run,
    and each one's runs are sorted by engine and seed."""
    damaged: tuple[str, ...]
    """Errors of runs that cannot be read, one line each. Those runs are not in the index."""
    _parts: Sequence[_Part]
    _ignored: Collection[Path]

    def packed(self, name: str) -> pl.DataFrame:
        """Return one of the `PACKED` tables for all runs, with the column `id` first."""
        try:
            return _packed(name, self.runs, self._parts)
        except DamagedError as error:
            return up_to_date(self.root, {*self._ignored, error.path}).packed(name)

    def folder(self, row: Mapping[str, Any]) -> Path:
        """Return the folder of a row's run."""
        return self.root / str(row["digest"]) / f"{row['engine']}-{row['seed']}"


def up_to_date(root: Path, ignored: Collection[Path] = ()) -> Index:
    """Compare the index of a store with its folders, store the changes, and return the updated index.

    Raises:
        OSError: If the store cannot be read.
    """
    ignored = set(ignored)
    parts = _read(root, ignored)
    found = look(root, _latest(parts), _last([part.listed for part in parts], ["digest"]))
    tables = found.new.tables()
    parts.append(_in_memory({name: decoded(bytes(data)) for name, data in tables.items()}))
    with (
        suppress(OSError, ResultError, DamagedError),
        closing(Writer(root)) as writer,
    ):  # the store can be read-only
        if found.new.rows or found.new.listed:
            parts[-1] = replace(parts[-1], segment=add(root, writer.open(), tables))
        parts = _fewer(root, writer, parts)
    there = pl.Series(found.there, dtype=pl.String)
    runs = _latest(parts).filter(~pl.col("gone"), pl.col("digest").is_in(there.implode()))
    return Index(root, _in_order(root, runs), tuple(found.damaged), parts, ignored)


def _in_memory(tables: Mapping[str, pl.DataFrame], segment: Segment | None = None) -> _Part:
    return _Part(tables["runs"], tables["listed"], tables.__getitem__, segment)


def _in_order(root: Path, runs: pl.DataFrame) -> pl.DataFrame:
    """Sort rows by the order in which their scenarios were run; see `fullpipe.runs.order`."""
    known = pl.Series(order.read(root), dtype=pl.String)
    others = runs.filter(~pl.col("digest").is_in(known.implode())).unique("digest", maintain_order=True)
    texts = (
        (digest, order.told(name, point, spec))
        for digest, name, point, spec in others.select("digest", "scenario", "point", "spec").iter_rows()
    )
    places = order.places(root, texts)
    place = pl.col("digest").replace_strict(places, return_dtype=pl.Int64)
    return runs.sort(place, *_KEY) if places else runs.sort(_KEY)


def _read(root: Path, ignored: set[Path]) -> list[_Part]:
    """Read the files of the index. Damaged ones are added to `ignored`, and removed if possible."""
    while True:
        before, parts = set(paths(root)) - ignored, []
        for path in sorted(before):
            try:
                segment = Segment.read(path)
                parts.append(_part(segment))
            except DamagedError:
                if not path.exists():  # another process has combined them: start again
                    break
                ignored.add(path)
                with suppress(OSError):
                    path.unlink()
        else:
            return parts


def _part(segment: Segment) -> _Part:
    """Read the tables of a file.

    Raises:
        DamagedError: If they are damaged, or a row is not a valid run. Rows are later turned into paths.
    """
    runs, listed = segment.table("runs"), segment.table("listed")
    if runs.schema != schema_of(RUNS) or listed.schema != schema_of(LISTED):
        raise DamagedError(segment.path)
    is_run = pl.col("digest").str.contains(DIGEST) & pl.col("engine").str.contains(ENGINE)
    if not runs.select((is_run & pl.col("seed").is_not_null()).fill_null(False).all()).item():
        raise DamagedError(segment.path)
    return _Part(runs, listed, segment.table, segment)


def _latest(parts: Sequence[_Part]) -> pl.DataFrame:
    """Return the latest row of every run, including removed runs, with the number of its part."""
    empty = pl.DataFrame(schema=schema_of(RUNS))
    rows = [part.runs.with_columns(pl.lit(n, pl.Int64).alias(_PART)) for n, part in enumerate(parts)]
    return _last(rows or [empty.with_columns(pl.lit(0, pl.Int64).alias(_PART))], _KEY)


def _last(tables: Sequence[pl.DataFrame], key: Sequence[str]) -> pl.DataFrame:
    """Return the latest row for each key."""
    rows = pl.concat(tables) if tables else pl.DataFrame(schema=schema_of(LISTED))
    return rows.sort("noted_ns", maintain_order=True).unique(key, keep="last", maintain_order=True)


def _packed(name: str, runs: pl.DataFrame, parts: Sequence[_Part]) -> pl.DataFrame:
    """Combine a table of all runs, taking each run from the part that has its row."""
    found = []
    for n, part in enumerate(parts):
        ids = runs.filter(pl.col(_PART) == n, ~pl.col("gone")).select(ID)
        if not ids.is_empty():
            found.append(as_today(name, part.table(name)).join(ids, on=ID, how="semi"))
    return pl.concat(found or [as_today(name, pl.DataFrame(schema={ID: pl.Int64}))], how="diagonal_relaxed")


def _found(parts: Sequence[_Part], gone: pl.DataFrame) -> pl.DataFrame:
    """Return the rows by which runs are found, without removed runs."""
    rows = [pl.DataFrame(schema=schema_of(FOUND)), *(part.table("found") for part in parts if part.is_found)]
    folders = gone.select(folder=pl.format("{}/{}-{}", "digest", "engine", "seed"))
    latest = pl.concat(rows).sort("noted_ns", maintain_order=True)
    return latest.unique("folder", keep="last", maintain_order=True).join(folders, on="folder", how="anti")


def _fewer(root: Path, writer: Writer, parts: list[_Part]) -> list[_Part]:
    """Combine parts in small files if there are many files.

    A file that is larger than all smaller ones together stays. So a run is rewritten only as often as the
    number of runs doubles (O'Neil et al., The log-structured merge-tree, Acta Informatica 33, 1996).
    """
    sized = [(part.segment.size, n) for n, part in enumerate(parts) if part.segment]
    if len(sized) <= _MANY:
        return parts
    sized.sort(reverse=True)
    while len(sized) > 1 and sized[0][0] > sum(size for size, _ in sized[1:]):
        del sized[0]
    numbers = {n for _, n in sized}
    if len(numbers) < 2:
        return parts
    latest = _latest(parts).filter(pl.col(_PART).is_in(list(numbers)))
    tables = {name: _packed(name, latest, parts) for name in PACKED}
    tables |= {"runs": latest.drop(_PART), "listed": _last([parts[n].listed for n in numbers], ["digest"])}
    tables["found"] = _found([parts[n] for n in numbers], latest.filter("gone"))
    data: dict[str, Stream] = {name: encoded(table) for name, table in tables.items()}
    together = add(root, writer.open(), {**data, "found": found_stream(tables["found"])})
    for n in numbers:
        old = parts[n].segment
        if old and old.path != together.path:
            old.path.unlink(missing_ok=True)
    rest = [part for n, part in enumerate(parts) if n not in numbers]
    return [*rest, _in_memory(tables, together)]
