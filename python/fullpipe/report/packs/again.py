"""Reruns of a packed study, and their differences from the packed runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import files
from fullpipe.algorithms import own
from fullpipe.api import import_algorithms
from fullpipe.errors import ResultError, ScenarioError
from fullpipe.report.packs.archive import FILES, LIST, Pack, PackedRun, PackError, sha256_of
from fullpipe.runs import Run
from fullpipe.runs.kept import Kept
from fullpipe.scenario import Scenario
from fullpipe.scenario.read import dotted
from fullpipe.scenario.read.files import located
from fullpipe.sweeps import Job

# A pack, unpacked into a folder, and the jobs that make its runs again.


_ENGINE = "native"
"""The engine that a pack may use without `--engine`, because this engine reads and writes only tables of
runs."""


@dataclass(frozen=True)
class Again:
    """A pack and the folder in which the study is rerun.

    Args:
        pack: The pack.
        out: The folder for the files of the study, which is also the store of the runs.
        engines: Engines that may run.
        allow_python: Whether code of the pack may run.
        must_compare: Whether runs are compared with those of the pack.
    """

    pack: Pack
    out: Path
    engines: Collection[str] = (_ENGINE,)
    allow_python: bool = False
    must_compare: bool = False

    def unpack(self) -> None:
        """Unpack the files of the study, unless an earlier command has unpacked them.

        Raises:
            PackError: If the folder has other content, if the pack has no runs to compare with, or if the
                pack has code or engines that are not allowed.
        """
        path, code = self.pack.path, self.code
        others = {run.engine.name for run in self.pack.manifest.runs} - {*self.engines}
        if others:
            raise PackError(
                f"{path}: has runs of {', '.join(sorted(others))}; add --engine {min(others)} to allow it"
            )
        if self.must_compare and not self.pack.manifest.is_made:
            raise PackError(f"{path}: has no runs to compare with; leave out --compare")
        if code and not self.allow_python:
            raise PackError(
                f"{path}: has code to execute ({', '.join(code)}); read it, then add --allow-python"
            )
        listed, here = self.pack.manifest.to_json(), self.out / LIST
        if here.is_file() and files.read_regular(here) == listed:
            self._check_files()
            return
        if self.out.is_dir() and any(self.out.iterdir()):
            raise PackError(f"{self.out}: is not empty; name another folder with --out")
        files.make_folder(self.out)
        try:
            self.pack.extract(FILES, self.out / FILES)
        except OSError as error:
            raise PackError(f"{error.filename or self.out}: {error.strerror or error}") from error
        files.write(here, listed)

    def _check_files(self) -> None:
        """Raise PackError if a file that was unpacked before has changed."""
        for name, digest in self.pack.manifest.files.items():
            path = self.out / name
            if name.startswith(f"{FILES}/") and not (path.is_file() and sha256_of(path) == digest):
                raise PackError(f"{path}: has changed since it was unpacked; name another folder with --out")

    @property
    def code(self) -> list[str]:
        """Algorithms that are code in files of the pack, not in the registry, by their names in scenarios."""
        return own.names_in(list(self.pack.manifest.scenarios))

    def jobs(self) -> list[Job]:
        """Return a job for every run of the pack, in the order of the pack.

        Raises:
            PackError: If this version cannot read a scenario of the pack.
            ScenarioError: If an algorithm of the pack cannot be imported.
        """
        folder = self.out / FILES
        with files.inputs_only_in(folder):
            scenarios = [self._scenario(tree, folder) for tree in self.pack.manifest.scenarios]
        if self.allow_python:
            own.look_in(folder)
            for scenario in scenarios:
                import_algorithms(scenario)
        return [
            Job(scenarios[run.scenario], run.seed, run.engine.name, run.point)
            for run in self.pack.manifest.runs
        ]

    def _scenario(self, tree: dict[str, Any], folder: Path) -> Scenario:
        """Return a scenario of the pack that reads the unpacked files of the pack."""
        try:
            if {dotted.BASE, dotted.SET} & set(tree) or tree.get("sweep"):
                raise PackError(f"{self.pack.path}: base, set or sweep is not allowed in a packed scenario")
            return Scenario(**located(tree, folder))
        except (ScenarioError, TypeError) as error:
            first = str(error).partition("\n")[0]
            raise PackError(f"{self.pack.path}: a scenario of the pack cannot be read: {first}") from error


# First difference between a run and the same run of a pack: table, column and row.


def is_equal(run: Run, packed: PackedRun) -> bool:
    """Whether the tables of two runs are equal, byte for byte.

    Raises:
        ResultError: If the run cannot be read.
    """
    return _checksums(run) == packed.tables


def _checksums(run: Run) -> dict[str, str]:
    assert run.folder
    return {name: known.sha256 for name, known in Kept.read(run.folder).sums.tables.items()}


def difference(run: Run, packed: PackedRun, folder: Path | None) -> str:
    """Return the first difference between two runs; empty if all values of their tables are equal.

    Args:
        run: A run of a store.
        packed: The entry of the same run in the manifest of the pack.
        folder: The unpacked folder of the packed run; None if the pack has only checksums.

    Raises:
        ResultError: If a run cannot be read.
    """
    here = _checksums(run)
    for name in dict.fromkeys([*packed.tables, *here]):
        if here.get(name) != packed.tables.get(name):
            found = _in_table(name, here, packed, run, folder)
            if found:
                return found
    return ""


def _in_table(name: str, here: Mapping[str, str], packed: PackedRun, run: Run, folder: Path | None) -> str:
    if name not in here or name not in packed.tables:
        return f"table {name}: is in {'this run' if name in here else 'the pack'} only"
    if folder is None:
        return f"table {name}: has another checksum; a pack with the tables of runs would show the row"
    try:
        other = Kept.read(folder).table(name)
    except ResultError as error:
        return f"table {name}: cannot be read from the pack: {error}"
    return _of_frames(name, run.tables[name], other)


def _of_frames(name: str, here: pl.DataFrame, there: pl.DataFrame) -> str:
    """Return the first differing row of the first differing column; empty if all numbers are equal."""
    if here.columns != there.columns:
        columns = sorted(set(here.columns) ^ set(there.columns))
        return f"table {name}: columns differ: {', '.join(columns) or 'their order'}"
    for column in here.columns:
        if here.schema[column] != there.schema[column]:
            types = f"{here.schema[column]} here, {there.schema[column]} in the pack"
            return f"table {name}, column {column}: {types}"
    if here.height != there.height:
        return f"table {name}: {here.height} rows here, {there.height} in the pack"
    for column in here.columns:
        is_other = (here[column].ne_missing(there[column])).arg_true()
        if len(is_other):
            row = int(is_other[0])
            values = f"{here[column][row]} here, {there[column][row]} in the pack"
            return f"table {name}, column {column}, row {row + 1}: {values}"
    return ""
