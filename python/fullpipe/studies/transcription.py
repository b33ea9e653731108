"""Transcription of a study: title, claims and set-up of `expected.toml`, with results of another engine."""

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
"""Name of the file with results of ns-3, beside the transcription."""


@dataclass(frozen=True)
class Transcription:
    """The printed claims, and the set-up as printed and as used here."""

    title: str
    claims: tuple[Claim, ...]
    setup: tuple[Mapping[str, Any], ...]


@cache
def transcription(package: str) -> Transcription:
    """Read the transcription of a study. Its table `default` has the defaults of all claims."""
    data = _parsed(package, "expected.toml")
    return Transcription(data["title"], claims_in(package, "expected.toml"), tuple(data["setup"]))


def claims_in(package: str, name: str, **default: Any) -> tuple[Claim, ...]:
    """Read the claims of a file of a study; `default` has further defaults of claims."""
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
    """Return a function that reads the transcription of a study, given its `__package__`."""
    return partial(transcription, package or "")
