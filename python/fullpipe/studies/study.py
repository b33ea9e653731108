"""Interface of the packages of studies."""

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
        """Return the printed title, claims and set-up."""
        ...

    def plan(self, *, quick: bool) -> Plan:
        """Return its experiments with the algorithms of each; the quick form may be shorter."""
        ...

    def checker(self, found: Measurements) -> ClaimChecker:
        """Return a checker of its claims against measurements."""
        ...

    def jobs(self, settings: Settings) -> list[Job]:
        """Return every run of the study."""
        ...

    def run(self, settings: Settings, todo: Sequence[Job]) -> Report:
        """Run the jobs that are not stored yet, and report."""
        ...


class PublishedStudy(Study, Protocol):
    """A study that computes from the published data of its paper."""

    def published_in(self, folder: Path) -> object:
        """Read the published data in a folder for `Settings.data`. Raises InputFileError."""
        ...
