"""Claims of a paper, and stored results of engines other than the native engine."""

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

# Results of another engine for the claims of a study, stored in the study's folder.


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Our result for one claim with an engine other than the native engine."""

    id: str
    """ID of the claim."""
    engine: str
    version: str
    date: str
    seeds: int
    setting: str
    """The setting with which the claim was run; empty for the unchanged study."""
    ours: str
    verdict: str

    @property
    def source(self) -> str:
        """The engine, its version, and the date of the result."""
        return f"{self.engine} {self.version}, {self.date}"

    @property
    def shown(self) -> str:
        """Our number, the verdict, and the setting if any."""
        return f"{self.ours}: {self.verdict}" + (f" ({self.setting})" if self.setting else "")


def parsed(text: str) -> dict[str, Elsewhere]:
    """Parse a file of results, and return the results by the ID of the claim."""
    return {row["id"]: Elsewhere(**row) for row in tomllib.loads(text).get("result", [])}


def kept(path: Path) -> dict[str, Elsewhere]:
    """Read a file of results. The mapping is empty if the file does not exist."""
    return parsed(path.read_text(encoding="utf-8")) if path.exists() else {}


def keep(path: Path, results: Iterable[Elsewhere]) -> None:
    """Add results to a file. A new result replaces an older result for the same claim."""
    rows = kept(path) | {result.id: result for result in results}
    files.make_folder(path.parent)
    files.write(path, "\n".join(map(_table, map(asdict, rows.values()))).encode())


def _table(row: Mapping[str, str | int]) -> str:
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in row.items())
    return "\n".join(["[[result]]", *lines]) + "\n"


# Claims of a study: statements of a paper in a form that can be checked against our results.
# A study's `expected.toml` has one table per printed number or claim. One of these fields sets the kind of a
# claim:
#
# - `between = [low, high]`: a printed number with its rounding, or a printed range.
# - `change = { of, against }`: a printed change in per cent, in the range `between`. With `points = true`,
# the change is in the unit of the quantity, not in per cent.
# - one or several of `above`, `below`, `at_least`, `at_most`: an inequality against a constant.
# - `higher` and `lower`: the value of `higher` is above the value of `lower`, or below it by no more than the
#   share `slack`. `higher` and `lower` are tables of `algorithm`, `quantity` and conditions, which override
#   `where` and `each`.
# - `rising` or `falling = "condition"`: the quantity rises or falls from each value of a condition to the
#   next value.
# - `lowest` or `highest = k`: the algorithm is among the k lowest or highest of all compared algorithms.
# - `equals`: the printed digits, by quantity. Values computed from the published data must have these digits.
# - `contradicted` or `untestable`: the reason why nothing is measured for the claim.
# `where` has the conditions and the algorithm of the claim. `each` gives conditions lists of values. The
# claim must hold at every value. `at_each` names conditions. The claim must hold under each measured
# value of these conditions. Other conditions are averaged only if `mean_over` names them. A printed number
# may have a reference condition, `against = { where = { ... }, printed = 56.3 }`, and a `ceiling`, which the
# number cannot exceed.
# `why` is the cause of a difference, from `Cause`. `setting` is the change that improves the verdict: see
# `fullpipe.studies.settings`. `uncounted` is the reason why a claim does not count: the claim is true by
# definition, or printed a second time. `published` is the place of the published data, for a claim that is
# judged by the paper's published data.


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
"""Kinds of claims that are printed numbers. Claims of all other kinds are statements in words."""
UNMEASURED = ("contradicted", "untestable")

Where = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference condition for the direction of a printed number, and the number printed for this
    condition."""

    where: Where
    printed: float


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number or one statement of a paper."""

    id: str
    says: str
    kind: str
    what: Any
    """Value of the field of `expected.toml` that sets the kind of the claim. For inequalities, the constants
    by the names of the fields."""
    between: Expectation | None = None
    lower: Where = field(default_factory=dict)
    against: Reference | None = None
    ceiling: float | None = None
    entries: tuple[int, ...] = ()
    """Indices of the claim's values in the list of all printed values of the paper."""
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
    """Simulator with which the printed number was measured, for papers with several simulators."""
    why: Cause | None = None
    setting: Setting | None = None
    """Setting that improves the verdict."""
    uncounted: str = ""
    elsewhere: Elsewhere | None = None
    """Stored result of another engine for the claim."""
    published: str = ""
    """Place of the published data by which the claim is judged; empty for a claim that is judged by runs."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Claim:
        """Read a table of `expected.toml`. Raises ValueError without a kind, or for an unknown cause."""
        bounds = {name: float(row[name]) for name in BOUNDS if name in row}
        kind = "bounds" if bounds else next((kind for kind in KINDS if kind in row), "")
        if not kind:
            raise ValueError(f"{row['id']}: no field sets the kind; add a field such as `between` or `above`")
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
        """Every algorithm and every value of a condition that the claim names."""
        tables = [self.where, self.each, self.lower, self.what if isinstance(self.what, Mapping) else {}]
        words = [value for table in tables for value in table.values()]
        return {w for word in words for w in (word if isinstance(word, list | tuple) else [word])}
