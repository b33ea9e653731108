"""Claims of a paper, and where else a value is printed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fullpipe import files
from fullpipe.studies.experiments import Value
from fullpipe.studies.settings import Setting
from fullpipe.studies.verdicts import Cause, Expectation

# Results of another engine for the claims of a study, stored in a file beside the transcription.


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


# Claims of a study: statements of a paper in a form that can be tested on our results.
#
# A study's `expected.toml` has one table per printed number or claim. One of these fields sets its kind:
#
# - `between = [low, high]`: a printed number with its rounding, or a printed range.
# - `change = { of, against }`: a printed change in per cent, `between` two values; with `points = true` in
#   units of the quantity instead.
# - `above`, `below`, `at_least`, `at_most`, one or several of them: an inequality against a constant.
# - `higher` and `lower`: the first is above the second, or below it by no more than a share of `slack`. Both
#   are tables of `algorithm`, `quantity` and conditions, which override `where` and `each`.
# - `rising` or `falling = "condition"`: the quantity rises or falls from each value of a condition to the
#   next.
# - `lowest` or `highest = k`: the algorithm is among the k lowest or highest of all that are compared.
# - `equals`: the printed digits of published data, by quantity.
# - `contradicted` or `untestable`: the reason for which nothing is measured.
#
# `where` has the conditions and the algorithm. `each` lists conditions with values under each of which the
# claim must hold. `at_each` names conditions under every measured value of which it must hold. Other
# conditions are averaged only if `mean_over` names them. A printed number may have a reference condition,
# `against = { where = { ... }, printed = 56.3 }`, and a `ceiling`, which it cannot exceed.
#
# `why` is the cause of a difference, from `Cause`. `setting` is the change that turns the verdict: see
# `fullpipe.studies.settings`. `uncounted` is the reason for which a claim does not count: it is true by
# definition, or printed a second time. `published` is the place of the paper's published data by which a
# claim is judged.


BOUNDS = ("above", "below", "at_least", "at_most")
KINDS = (
    "contradicted",
    "untestable",
    "equals",
    "change",
    "between",
    "higher",
    "rising",
    "falling",
    "lowest",
    "highest",
)
NUMBERS = ("equals", "change", "between")
"""Kinds of printed numbers; all others are claims in words."""
UNMEASURED = ("contradicted", "untestable")

Where = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference condition for the direction of a printed number, with the number printed there."""

    where: Where
    printed: float


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number or claim."""

    id: str
    says: str
    kind: str
    what: Any
    """Value of the field that sets the kind; for inequalities, the constants by their names."""
    between: Expectation | None = None
    lower: Where = field(default_factory=dict)
    against: Reference | None = None
    ceiling: float | None = None
    entries: tuple[int, ...] = ()
    """Its indices in the collected list of printed values."""
    experiment: str = ""
    quantity: str = ""
    where: Where = field(default_factory=dict)
    each: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    at_each: tuple[str, ...] = ()
    mean_over: tuple[str, ...] = ()
    slack: float = 0.0
    points: bool = False
    unit: str = ""
    simulator: str = ""
    """Simulator of the number, if a paper has several."""
    why: Cause | None = None
    setting: Setting | None = None
    """Setting that turns the verdict."""
    uncounted: str = ""
    elsewhere: Elsewhere | None = None
    """Stored result of another engine."""
    published: str = ""
    """Place of the published data by which it is judged; empty if it is judged by runs."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Claim:
        """Read a table of `expected.toml`. Raises ValueError without a kind, or for an unknown cause."""
        bounds = {name: float(row[name]) for name in BOUNDS if name in row}
        kind = "bounds" if bounds else next((kind for kind in KINDS if kind in row), "")
        if not kind:
            raise ValueError(f"{row['id']}: no claim; add a field such as `between` or `above`")
        made = {key: value for key, value in row.items() if key not in (*BOUNDS, kind)}
        made["kind"], made["what"] = kind, bounds or row[kind]
        if "between" in row:
            made["between"] = Expectation(*row["between"])
        if "against" in row:
            made["against"] = Reference(**row["against"])
        if "why" in row:
            made["why"] = Cause(row["why"])
        if "setting" in row and not isinstance(row["setting"], Setting):
            made["setting"] = Setting.from_row(row["setting"])
        for name in ("entries", "at_each", "mean_over"):
            made[name] = tuple(row.get(name, ()))
        return cls(**made)

    @property
    def named(self) -> set[Value]:
        """Every algorithm and value of a condition that it names."""
        tables = [self.where, self.each, self.lower, self.what if isinstance(self.what, Mapping) else {}]
        words = [value for table in tables for value in table.values()]
        return {w for word in words for w in (word if isinstance(word, list | tuple) else [word])}
