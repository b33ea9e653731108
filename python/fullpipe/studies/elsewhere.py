"""Results of another engine for the claims of a study, stored in a file beside the transcription."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from fullpipe import files


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Our result for one claim by another engine."""

    id: str
    """Id of the claim."""
    engine: str
    version: str
    date: str
    seeds: int
    setting: str
    """The setting that was changed; empty for the study as it is."""
    ours: str
    verdict: str

    @property
    def source(self) -> str:
        """Engine, version and date."""
        return f"{self.engine} {self.version}, {self.date}"

    @property
    def shown(self) -> str:
        """Our number, the verdict, and the setting."""
        return f"{self.ours}: {self.verdict}" + (f" ({self.setting})" if self.setting else "")


def parsed(text: str) -> dict[str, Elsewhere]:
    """Parse a file of results; by id of the claim."""
    return {row["id"]: Elsewhere(**row) for row in tomllib.loads(text).get("result", [])}


def kept(path: Path) -> dict[str, Elsewhere]:
    """Read a file of results; empty if there is no such file."""
    return parsed(path.read_text(encoding="utf-8")) if path.exists() else {}


def keep(path: Path, results: Iterable[Elsewhere]) -> None:
    """Write results into a file; they replace those of the same claims."""
    rows = kept(path) | {result.id: result for result in results}
    files.make_folder(path.parent)
    files.write(path, "\n".join(map(_table, map(asdict, rows.values()))).encode())


def _table(row: Mapping[str, str | int]) -> str:
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in row.items())
    return "\n".join(["[[result]]", *lines]) + "\n"
