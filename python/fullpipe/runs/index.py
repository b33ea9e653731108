"""The index of a store: a row per run, so that commands need not open every run."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fullpipe.errors import ResultError
from fullpipe.lazy import pl
from fullpipe.runs import segments
from fullpipe.runs.encoding import META, as_schema, columns_today, decoded, encoded
from fullpipe.runs.entries import FOUND, ID, LISTED, RUNS, Entries, Stream, found_stream, schema_of
from fullpipe.runs.kept import PACKED, Kept, as_today
from fullpipe.runs.meta import DIGEST, ENGINE
from fullpipe.runs.segments import DamagedError, Segment, add, paths
from fullpipe.runs.writer import Writer

# Comparison of the folders of a store with its index.


_SETTLED_NS = 2_000_000_000
"""Age from which the modification time of a folder is reliable. A younger folder can change again without a
new modification time."""


@dataclass
class Look:
    """Result of comparing the folders of a store with its index."""

    there: list[str] = field(default_factory=list)
    """Names of the digest folders in the store."""
    new: Entries = field(default_factory=Entries)
    """Entries that the index lacks."""
    damaged: list[str] = field(default_factory=list)
    """Errors of runs that cannot be read, one line each."""


def look(root: Path, runs: pl.DataFrame, listed: pl.DataFrame) -> Look:
    """Compare the folders of a store with the tables `runs` and `listed` of its index.

    Raises:
        OSError: If the store cannot be read.
    """
    found, now_ns = Look(), max([time.time_ns(), *(runs["noted_ns"].top_k(1) + 1)])
    known = dict(zip(listed["digest"], listed["changed_ns"], strict=True))
    dates = dict(_digests(root))
    found.there = list(dates)
    changed = {digest: date_ns for digest, date_ns in dates.items() if known.get(digest) != date_ns}
    of_digest = _by_digest(runs, changed)
    for digest, date_ns in changed.items():
        is_whole = _compare(root / digest, of_digest.get(digest, {}), found, now_ns)
        if is_whole and time.time_ns() - date_ns > _SETTLED_NS:
            found.new.listed.append({"digest": digest, "changed_ns": date_ns, "noted_ns": now_ns})
    return found


def _digests(root: Path) -> Iterator[tuple[str, int]]:
    """Yield the folders of digests, with the time of their last change."""
    with os.scandir(root) as entries:
        for entry in entries:
            if re.fullmatch(DIGEST, entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry.name, entry.stat(follow_symlinks=False).st_mtime_ns


def _by_digest(runs: pl.DataFrame, digests: dict[str, int]) -> dict[str, dict[str, tuple[str, int, int]]]:
    """Return engine, seed and date of every run in the index, by digest and name of its folder."""
    said: dict[str, dict[str, tuple[str, int, int]]] = {}
    some = runs.filter(~pl.col("gone"), pl.col("digest").is_in(list(digests)))
    for digest, engine, seed, date_ns in some.select("digest", "engine", "seed", "changed_ns").iter_rows():
        said.setdefault(digest, {})[f"{engine}-{seed}"] = (engine, seed, date_ns)
    return said


def _compare(folder: Path, said: dict[str, tuple[str, int, int]], found: Look, now_ns: int) -> bool:
    """Add the differences between a digest folder and the index to `found`.

    Return False if a run in the folder is damaged.
    """
    dates, is_whole = dict(_finished(folder)), True
    for name, date_ns in dates.items():
        if name not in said or said[name][2] != date_ns:
            is_whole &= _add(folder / name, found, date_ns, now_ns)
    for name, (engine, seed, _) in said.items():
        if name not in dates:
            found.new.add_gone({"digest": folder.name, "engine": engine, "seed": seed}, now_ns)
    return is_whole


def _finished(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the names of the finished runs of a digest, with the time at which meta.json of the run was
    written."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                with suppress(OSError):
                    yield entry.name, os.stat(f"{entry.path}/{META}").st_mtime_ns


def _add(folder: Path, found: Look, date_ns: int, now_ns: int) -> bool:
    """Add a run to `found` unless it is damaged, or is a copy in a folder with another name.

    Return False if the run is damaged.
    """
    try:
        kept = Kept.read(folder)
        if kept.has_its_name:
            found.new.add(kept, {name: _summary(kept, name) for name in PACKED}, date_ns, now_ns)
    except ResultError as error:
        told = str(error)
        found.damaged.append(told if str(folder) in told else f"{folder}: {told}")
        return False
    return True


def _summary(kept: Kept, name: str) -> Stream | None:
    """Return a table of a run with the current columns, as bytes; None if it has no rows.

    Raises:
        ResultError: If the table cannot be read or is damaged.
    """
    table = as_schema(name, kept.table(name))
    if table.is_empty():
        return None
    return kept.stream(name) if kept.sums.columns == columns_today() else encoded(table)


# The index of a store.
# If the index and the folders differ, the folders count. A digest folder with an unchanged modification time
# contains the same runs as when it was last listed. Digest folders with a changed time are listed again. Data
# that the index lacks is read from the runs. Damaged files of the index are ignored.


_MANY = 8
"""Number of files of the index above which small files are combined."""
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
        """Whether the part has the table `found`. Files of older versions lack this table."""
        return self.segment is not None and "found" in self.segment


@dataclass(frozen=True)
class Index:
    """The finished runs of a store."""

    root: Path
    runs: pl.DataFrame
    """One row per run, with the columns of `entries.RUNS`. Scenarios are in the order in which commands ran
    them. The runs of a scenario are sorted by engine and seed."""
    damaged: tuple[str, ...]
    """Errors of runs that cannot be read, one line each. Unreadable runs are not in the index."""
    _parts: Sequence[_Part]
    _ignored: Collection[Path]

    def packed(self, name: str) -> pl.DataFrame:
        """Return one of the `PACKED` tables for all runs, with the column `id` first."""
        try:
            return _packed(name, self.runs, self._parts)
        except DamagedError as error:
            return up_to_date(self.root, {*self._ignored, error.path}).packed(name)

    def folder(self, row: Mapping[str, Any]) -> Path:
        """Return the folder of the run that a row describes."""
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
    """Sort rows by the order in which commands ran the scenarios; see `fullpipe.runs.segments`."""
    known = pl.Series(segments.read(root), dtype=pl.String)
    others = runs.filter(~pl.col("digest").is_in(known.implode())).unique("digest", maintain_order=True)
    texts = (
        (digest, segments.told(name, point, spec))
        for digest, name, point, spec in others.select("digest", "scenario", "point", "spec").iter_rows()
    )
    places = segments.places(root, texts)
    place = pl.col("digest").replace_strict(places, return_dtype=pl.Int64)
    return runs.sort(place, *_KEY) if places else runs.sort(_KEY)


def _read(root: Path, ignored: set[Path]) -> list[_Part]:
    """Read the files of the index. Damaged files are added to `ignored`, and removed if possible."""
    while True:
        before, parts = set(paths(root)) - ignored, []
        for path in sorted(before):
            try:
                segment = Segment.read(path)
                parts.append(_part(segment))
            except DamagedError:
                if not path.exists():  # another process has combined the files, so read the files again
                    break
                ignored.add(path)
                with suppress(OSError):
                    path.unlink()
        else:
            return parts


def _part(segment: Segment) -> _Part:
    """Read the tables `runs` and `listed` of a file of the index.

    Raises:
        DamagedError: If the tables are damaged, or a row is not a valid run. Rows must be valid, because
            paths are made from their digests and engines.
    """
    runs, listed = segment.table("runs"), segment.table("listed")
    if runs.schema != schema_of(RUNS) or listed.schema != schema_of(LISTED):
        raise DamagedError(segment.path)
    is_run = pl.col("digest").str.contains(DIGEST) & pl.col("engine").str.contains(ENGINE)
    if not runs.select((is_run & pl.col("seed").is_not_null()).fill_null(False).all()).item():
        raise DamagedError(segment.path)
    return _Part(runs, listed, segment.table, segment)


def _latest(parts: Sequence[_Part]) -> pl.DataFrame:
    """Return the latest row of every run, including removed runs, with the index of the part that has the
    row."""
    empty = pl.DataFrame(schema=schema_of(RUNS))
    rows = [part.runs.with_columns(pl.lit(n, pl.Int64).alias(_PART)) for n, part in enumerate(parts)]
    return _last(rows or [empty.with_columns(pl.lit(0, pl.Int64).alias(_PART))], _KEY)


def _last(tables: Sequence[pl.DataFrame], key: Sequence[str]) -> pl.DataFrame:
    """Return the row with the latest `noted_ns` for each key."""
    rows = pl.concat(tables) if tables else pl.DataFrame(schema=schema_of(LISTED))
    return rows.sort("noted_ns", maintain_order=True).unique(key, keep="last", maintain_order=True)


def _packed(name: str, runs: pl.DataFrame, parts: Sequence[_Part]) -> pl.DataFrame:
    """Combine a table over all runs. The rows of a run come from the part that has its latest entry."""
    found = []
    for n, part in enumerate(parts):
        ids = runs.filter(pl.col(_PART) == n, ~pl.col("gone")).select(ID)
        if not ids.is_empty():
            found.append(as_today(name, part.table(name)).join(ids, on=ID, how="semi"))
    return pl.concat(found or [as_today(name, pl.DataFrame(schema={ID: pl.Int64}))], how="diagonal_relaxed")


def _found(parts: Sequence[_Part], gone: pl.DataFrame) -> pl.DataFrame:
    """Return the latest rows of the tables `found`, without removed runs."""
    rows = [pl.DataFrame(schema=schema_of(FOUND)), *(part.table("found") for part in parts if part.is_found)]
    folders = gone.select(folder=pl.format("{}/{}-{}", "digest", "engine", "seed"))
    latest = pl.concat(rows).sort("noted_ns", maintain_order=True)
    return latest.unique("folder", keep="last", maintain_order=True).join(folders, on="folder", how="anti")


def _fewer(root: Path, writer: Writer, parts: list[_Part]) -> list[_Part]:
    """Combine small files of the index if there are more than `_MANY` files.

    A file that is larger than all smaller files together is not rewritten. A run is therefore rewritten only
    once per doubling of the number of runs (O'Neil et al., The log-structured merge-tree, Acta Informatica
    33, 1996).
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
