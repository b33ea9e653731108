"""What a study's `expected.toml` holds: its title, its claims and its set-up."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from fullpipe.papers.claims import Claim


@dataclass(frozen=True)
class Transcription:
    """The printed claims, and the set-up as printed and as used here."""

    title: str
    claims: tuple[Claim, ...]
    setup: tuple[Mapping[str, Any], ...]


@cache
def transcription(package: str) -> Transcription:
    """The one of a study."""
    data = tomllib.loads(files(package).joinpath("expected.toml").read_text(encoding="utf-8"))
    return Transcription(data["title"], tuple(Claim.of(row) for row in data["claim"]), tuple(data["setup"]))


def of_package(package: str | None) -> Callable[[], Transcription]:
    """What reads the one of a study, given the study's `__package__`."""
    return partial(transcription, package or "")
