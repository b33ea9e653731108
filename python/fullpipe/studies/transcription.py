"""Reads a study's `expected.toml`: title, claims and set-up; and what another engine has given."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from fullpipe.studies.claims import Claim
from fullpipe.studies.elsewhere import parsed
from fullpipe.studies.settings import Setting

ELSEWHERE = "ns3_results.toml"
"""Beside the transcription: what ns-3 has given."""


@dataclass(frozen=True)
class Transcription:
    """The printed claims, and the set-up as printed and as used here."""

    title: str
    claims: tuple[Claim, ...]
    setup: tuple[Mapping[str, Any], ...]


@cache
def transcription(package: str) -> Transcription:
    """The one of a study. What its table `default` says holds for every claim that does not say it itself."""
    data = _parsed(package, "expected.toml")
    return Transcription(data["title"], claims_in(package, "expected.toml"), tuple(data["setup"]))


def claims_in(package: str, name: str, **default: Any) -> tuple[Claim, ...]:
    """The claims of a file of a study; `default` holds for those that do not say it themselves."""
    data = _parsed(package, name)
    default, named = default | data.get("default", {}), {row["name"]: row for row in data.get("setting", [])}
    elsewhere = files(package).joinpath(ELSEWHERE)
    results = parsed(elsewhere.read_text(encoding="utf-8")) if elsewhere.is_file() else {}
    claims = []
    for row in data.get("claim", []):
        whole = {
            **default,
            **row,
            "where": _where(default) | _where(row),
            "elsewhere": results.get(row["id"]),
        }
        if isinstance(row.get("setting"), str) and row["setting"] in named:
            whole["setting"] = Setting.from_row(named[row["setting"]])
        claims.append(Claim.from_row(whole))
    return tuple(claims)


def _parsed(package: str, name: str) -> dict[str, Any]:
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def _where(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(row.get("where", {}))


def of_package(package: str | None) -> Callable[[], Transcription]:
    """What reads the one of a study, given the study's `__package__`."""
    return partial(transcription, package or "")
