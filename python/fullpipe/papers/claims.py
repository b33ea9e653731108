"""What a paper says of its algorithms, as comparisons that a machine can make.

A study's `expected.toml` has one table per printed number or claim. Which field it has says what kind it is:

- `change = { of, against }`: a printed change in per cent, `between` two values; with `points = true` in
  units of the quantity instead.
- `value = { algorithm = [...] }`: a printed value, `between` two values, of every algorithm named.
- `higher` and `lower`: the first is above the second, or below it by no more than a share of `slack`. Both
  are tables of `algorithm`, `quantity` and conditions, laid over `where` and `each`.
- `rising` or `falling = "condition"`: the quantity moves that way from each value of a condition to the next.
- `lowest` or `highest = k`: the algorithm is among the k lowest or highest of all that are compared.
- `contradicted` or `untestable`: why nothing is measured.

`each` spans the conditions and algorithms under which the claim is to hold, `where` narrows all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

from fullpipe.papers.experiments import Measurements, Value
from fullpipe.papers.verdicts import Direction, Expectation, Verdict, holds, judge, judge_comparisons
from fullpipe.statistics import t_interval

KINDS = (
    "change",
    "value",
    "higher",
    "rising",
    "falling",
    "lowest",
    "highest",
    "contradicted",
    "untestable",
)

Where = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number or claim."""

    id: str
    says: str
    kind: str
    what: Any
    """The value of the field that says the kind."""
    lower: Where = field(default_factory=dict)
    entries: tuple[int, ...] = ()
    """Its numbers in the collected list of printed values."""
    experiment: str = ""
    quantity: str = ""
    where: Where = field(default_factory=dict)
    each: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    between: Expectation | None = None
    slack: float = 0.0
    points: bool = False
    unit: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Claim:
        """From a table of `expected.toml`."""
        (kind,) = [kind for kind in KINDS if kind in row]
        rest = {key: value for key, value in row.items() if key not in (kind, "between", "entries")}
        between = Expectation(*row["between"]) if "between" in row else None
        return cls(kind=kind, what=row[kind], between=between, entries=tuple(row.get("entries", ())), **rest)


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, our value, and the verdict, for one reading of the algorithm."""

    claim: Claim
    reading: str
    """Empty for a claim that is not about readings."""
    values: tuple[float, ...]
    """One per seed; of a claim in words, none."""
    held: int
    """How many comparisons of a claim in words hold."""
    compared: int
    verdict: Verdict
    closest: bool = False

    @property
    def mean(self) -> float | None:
        """Of a printed number, our mean."""
        return sum(self.values) / len(self.values) if self.values else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The 95 % interval of that mean."""
        if len(self.values) < 2:
            return None
        interval = t_interval(self.values)
        return interval.low, interval.high

    @property
    def distance(self) -> float:
        """How far it is from what is printed: for a number in its unit, for words as the share that fails."""
        if self.mean is not None and self.claim.between is not None:
            between = self.claim.between
            return max(between.low - self.mean, self.mean - between.high, 0.0)
        return 1 - self.held / self.compared if self.compared else float("inf")


@dataclass(frozen=True)
class Court:
    """Judges claims by measurements.

    Args:
        found: What we measured.
        subject: The algorithm that the paper is about, as claims name it.
        readings: The algorithms in our measurements that stand for it.
        others: All other algorithms that are compared.
    """

    found: Measurements
    subject: str
    readings: Sequence[str]
    others: Sequence[str]

    def judged(self, claim: Claim) -> list[Judged]:
        """One verdict, or one per reading if the claim is about the subject; the closest are marked."""
        if claim.kind in ("contradicted", "untestable"):
            verdict = Verdict.CONTRADICTED if claim.kind == "contradicted" else Verdict.NOT_TESTABLE
            return [Judged(claim, "", (), 0, 0, verdict)]
        if not self._is_about_subject(claim):
            return [self._of_reading(claim, "")]
        return with_closest([self._of_reading(claim, reading) for reading in self.readings])

    def _is_about_subject(self, claim: Claim) -> bool:
        named = [claim.where, claim.each, claim.lower, claim.what if isinstance(claim.what, Mapping) else {}]
        words = [value for table in named for value in table.values()]
        flat = [w for word in words for w in (word if isinstance(word, list | tuple) else [word])]
        return self.subject in flat

    def _of_reading(self, claim: Claim, reading: str) -> Judged:
        if claim.kind in ("change", "value"):
            values = self._change(claim, reading) if claim.kind == "change" else self._value(claim, reading)
            zero = Direction(0.0, [0.0] * len(values)) if claim.kind == "change" and values else None
            assert claim.between is not None
            return Judged(claim, reading, tuple(values), 0, 0, judge(claim.between, values, direction=zero))
        compared = list(self._comparisons(claim, reading))
        held = sum(holds(margins) for margins in compared)
        return Judged(claim, reading, (), held, len(compared), judge_comparisons(compared))

    def _change(self, claim: Claim, reading: str) -> list[float]:
        of = self._at(claim, reading, {**claim.where, "algorithm": claim.what["of"]})
        against = self._at(claim, reading, {**claim.where, "algorithm": claim.what["against"]})
        if not (of and against):
            return []
        if claim.points:
            return [a - b for a, b in zip(of, against, strict=True)]
        return [100 * (a / b - 1) for a, b in zip(of, against, strict=True) if b]

    def _value(self, claim: Claim, reading: str) -> list[float]:
        rows = [
            self._at(claim, reading, {**claim.where, "algorithm": name}) for name in claim.what["algorithm"]
        ]
        return [sum(column) / len(column) for column in zip(*rows, strict=True)] if all(rows) else []

    def _comparisons(self, claim: Claim, reading: str) -> Iterator[list[float]]:
        """Relative differences per seed, positive where the claim holds."""
        for values in product(*claim.each.values()):
            where = {**claim.where, **dict(zip(claim.each, values, strict=True))}
            if claim.kind == "higher":
                above, below = {**where, **claim.what}, {**where, **claim.lower}
                found = self._differences(claim, reading, above, below)
                yield [difference + claim.slack for difference in found]
            elif claim.kind in ("rising", "falling"):
                steps = self.found.choices(claim.experiment, claim.what)
                steps = [s for s in steps if claim.what not in where or s == where[claim.what]]
                for first, second in pairwise(steps):
                    pair = ({**where, claim.what: second}, {**where, claim.what: first})
                    above, below = pair if claim.kind == "rising" else pair[::-1]
                    yield self._differences(claim, reading, above, below)
            else:
                yield self._rank(claim, reading, where)

    def _rank(self, claim: Claim, reading: str, where: Where) -> list[float]:
        """How far the k-th best of the others is behind."""
        mine = self._at(claim, reading, where)
        names = [name for name in self.others if name != where["algorithm"]]
        others = [self._at(claim, reading, {**where, "algorithm": name}) for name in names]
        if not (mine and all(others)):
            return []
        sign = 1 if claim.kind == "lowest" else -1
        bars = [
            sign * sorted(sign * value for value in column)[claim.what - 1]
            for column in zip(*others, strict=True)
        ]
        return [sign * _relative(bar, value) for bar, value in zip(bars, mine, strict=True)]

    def _differences(self, claim: Claim, reading: str, above: Where, below: Where) -> list[float]:
        highs, lows = self._at(claim, reading, above), self._at(claim, reading, below)
        if not (highs and lows):  # not measured under these conditions
            return []
        return [_relative(a, b) for a, b in zip(highs, lows, strict=True)]

    def _at(self, claim: Claim, reading: str, where: Where) -> list[float]:
        where = dict(where)
        algorithm = str(where.pop("algorithm"))
        quantity = str(where.pop("quantity", claim.quantity))
        name = reading if algorithm == self.subject else algorithm
        return self.found.at(claim.experiment, quantity, name, where)


def judged_under(found: Measurements, key: str, claim: Claim) -> list[Judged]:
    """One verdict for each value of a condition, which stands for a reading; the closest are marked."""
    if claim.kind in ("contradicted", "untestable"):
        return Court(found, "", (), ()).judged(claim)
    each = []
    for value in found.choices(claim.experiment, key):
        (verdict,) = Court(found.under({key: value}), "", (), ()).judged(claim)
        each.append(replace(verdict, reading=str(value)))
    return with_closest(each)


def with_closest(each: Sequence[Judged]) -> list[Judged]:
    """Marks the best verdicts, and of those the ones that come nearest to what is printed."""
    order = list(Verdict)
    ranks = [(order.index(j.verdict), round(j.distance, 9)) for j in each]
    return [replace(j, closest=rank == min(ranks)) for j, rank in zip(each, ranks, strict=True)]


def _relative(a: float, b: float) -> float:
    """The difference as a share of the mean, from -2 to 2."""
    total = abs(a) + abs(b)
    return 2 * (a - b) / total if total else 0.0
