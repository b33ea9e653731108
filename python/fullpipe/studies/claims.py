"""Claims of a study: statements of a paper in a form that can be tested on our results.

A study's `expected.toml` has one table per printed number or claim. Which field it has says what kind it is:

- `between = [low, high]`: a printed number, with what its rounding allows, or a range that is called a
number.
- `change = { of, against }`: a printed change in per cent, `between` two values; with `points = true` in
  units of the quantity instead.
- `above`, `below`, `at_least`, `at_most`, one or several of them: an inequality against a constant.
- `higher` and `lower`: the first is above the second, or below it by no more than a share of `slack`. Both
  are tables of `algorithm`, `quantity` and conditions, laid over `where` and `each`.
- `rising` or `falling = "condition"`: the quantity moves that way from each value of a condition to the next.
- `lowest` or `highest = k`: the algorithm is among the k lowest or highest of all that are compared.
- `equals`: by quantity what is printed of published data, digit by digit.
- `contradicted` or `untestable`: why nothing is measured.

`where` says under which conditions and of which algorithm, `each` spans those under which the claim is to
hold one by one, and `at_each` names conditions of which it is to hold under every value that was measured.
What none of them names is averaged only if `mean_over` names it. A printed number may have a
reference condition, `against = { where = { ... }, printed = 56.3 }`, and `ceiling`, which it cannot exceed.

`why` is the cause of a difference, from `Cause`, and `setting` what is to be set another way for the verdict
to turn, see `fullpipe.studies.settings`. `uncounted` says why a claim is no number of its own:
true by definition, or printed a second time. `published` says that a claim is judged by published data of the
paper, and where these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fullpipe.studies.causes import Cause
from fullpipe.studies.elsewhere import Elsewhere
from fullpipe.studies.experiments import Value
from fullpipe.studies.settings import Setting
from fullpipe.studies.verdicts import Expectation

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
"""The kinds that are printed numbers; all others are words."""
UNMEASURED = ("contradicted", "untestable")

Where = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Reference:
    """The condition against which the direction of a printed number is checked, and what is printed there."""

    where: Where
    printed: float


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number or claim."""

    id: str
    says: str
    kind: str
    what: Any
    """The value of the field that says the kind; of inequalities, the constant by the name of each."""
    between: Expectation | None = None
    lower: Where = field(default_factory=dict)
    against: Reference | None = None
    ceiling: float | None = None
    entries: tuple[int, ...] = ()
    """Its numbers in the collected list of printed values."""
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
    """Whose number it is, where a paper has several simulators."""
    why: Cause | None = None
    setting: Setting | None = None
    """What turns the verdict."""
    uncounted: str = ""
    elsewhere: Elsewhere | None = None
    """What another engine has given."""
    published: str = ""
    """Where the data are by which it is judged; empty if that is done by runs."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Claim:
        """From a table of `expected.toml`. Raises ValueError for a field or a cause that there is not."""
        bounds = {name: float(row[name]) for name in BOUNDS if name in row}
        kind = "bounds" if bounds else next((kind for kind in KINDS if kind in row), "")
        if not kind:
            raise ValueError(f"{row['id']}: it claims nothing")
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
        """Every value that it names of an algorithm or a condition."""
        tables = [self.where, self.each, self.lower, self.what if isinstance(self.what, Mapping) else {}]
        words = [value for table in tables for value in table.values()]
        return {w for word in words for w in (word if isinstance(word, list | tuple) else [word])}
