"""A pack, unpacked into a folder, and the jobs that make its runs again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullpipe import files
from fullpipe.algorithms import own
from fullpipe.api import import_algorithms
from fullpipe.errors import ScenarioError
from fullpipe.report.packs.archive import Pack, sha256_of
from fullpipe.report.packs.manifest import FILES, LIST, PackError
from fullpipe.scenario import Scenario
from fullpipe.scenario.read import overlay
from fullpipe.scenario.read.files import located
from fullpipe.sweeps import Job

_ENGINE = "native"
"""The engine that a pack may run on without being asked: it reads and writes nothing but its tables."""


@dataclass(frozen=True)
class Again:
    """A pack and the folder in which it is run again.

    Args:
        pack: The pack.
        out: The folder: of the study's files, and the store of the runs.
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
        """Unpack the files of the study, unless they are there.

        Raises:
            PackError: If the folder holds something else, if the pack has no runs to compare with, or if it
                has code that may not run.
        """
        path, code = self.pack.path, self.code
        others = {run.engine.name for run in self.pack.manifest.runs} - {*self.engines}
        if others:
            raise PackError(
                f"{path}: runs on {', '.join(sorted(others))}; say --engine {min(others)} to allow it"
            )
        if self.must_compare and not self.pack.manifest.is_made:
            raise PackError(f"{path}: has no runs to compare with; leave out --compare")
        if code and not self.allow_python:
            raise PackError(
                f"{path}: runs code of the pack ({', '.join(code)}); read it, and say --allow-python"
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
                raise PackError(f"{path}: is not as it was unpacked; name another folder with --out")

    @property
    def code(self) -> list[str]:
        """Algorithms of the pack, by their names in scenarios, that are code of their author."""
        return own.names_in(list(self.pack.manifest.scenarios))

    def jobs(self) -> list[Job]:
        """Return a job for every run of the pack, in its order.

        Raises:
            PackError: If a scenario of the pack is none.
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
        """Return a scenario of the pack, whose files are those of the pack."""
        try:
            if {overlay.BASE, overlay.SET} & set(tree) or tree.get("sweep"):
                raise PackError(f"{self.pack.path}: a scenario has a base, paths that are set, or a sweep")
            return Scenario(**located(tree, folder))
        except (ScenarioError, TypeError) as error:
            first = str(error).partition("\n")[0]
            raise PackError(f"{self.pack.path}: this version does not read its scenario: {first}") from error
