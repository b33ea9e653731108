"""Reads a study's `expected.toml`: its title, its claims and its set-up."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from fullpipe.studies.claims import Claim


@dataclass(frozen=True)
class Transcription:
    """The printed claims, and the set-up as printed and as used here."""

    title: str
    claims: tuple[Claim, ...]
    setup: tuple[Mapping[str, Any], ...]


@cache
def transcription(package: str) -> Transcription:
    """The one of a study. What its table `default` says holds for every claim that does not say it itself."""
    data = tomllib.loads(files(package).joinpath("expected.toml").read_text(encoding="utf-8"))
    default = data.get("default", {})
    claims = [
        Claim.from_row({**default, **row, "where": _where(default) | _where(row)}) for row in data["claim"]
    ]
    return Transcription(data["title"], tuple(claims), tuple(data["setup"]))


def _where(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(row.get("where", {}))


def of_package(package: str | None) -> Callable[[], Transcription]:
    """What reads the one of a study, given the study's `__package__`."""
    return partial(transcription, package or "")
