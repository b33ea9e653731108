"""What the package of a study offers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.plan import Plan
from fullpipe.studies.report import Report, Settings
from fullpipe.studies.transcription import Transcription
from fullpipe.sweeps import Job


class Study(Protocol):
    """A study."""

    def transcription(self) -> Transcription:
        """What is printed there."""
        ...

    def plan(self, *, quick: bool) -> Plan:
        """Its experiments, in a quick form shorter ones, and the algorithms of each."""
        ...

    def checker(self, found: Measurements) -> ClaimChecker:
        """What holds its claims against measurements."""
        ...

    def jobs(self, settings: Settings) -> list[Job]:
        """Every run of it."""
        ...

    def run(self, settings: Settings, todo: Sequence[Job]) -> Report:
        """Of its jobs, run what is missing, and report."""
        ...


class PublishedStudy(Study, Protocol):
    """A study that computes from the published data of its paper."""

    def published_in(self, folder: Path) -> object:
        """The published data in a folder, as `run` finds them in `Settings.data`. Raises InputFileError."""
        ...
