"""Checks claims against measurements. Every claim gets a verdict under each reading of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import inf, isfinite

from fullpipe.studies.claims import NUMBERS, UNMEASURED, Claim, Where
from fullpipe.studies.experiments import Measurements, Value
from fullpipe.studies.text import interval_of, is_as_printed
from fullpipe.studies.verdicts import (
    BY_DATA,
    NO_VALUE,
    Cause,
    Direction,
    Expectation,
    PartResult,
    Verdict,
    check_comparison,
    check_number,
    differences,
    verdict_in_words,
    verdict_of_all,
)

SETTLED = (Verdict.RECOMPUTED, Verdict.REPRODUCED, Verdict.NOT_JUDGED)
"""Verdicts that do not need a cause of a difference."""


@dataclass(frozen=True, slots=True)
class Part:
    """One number or one comparison of a claim, under one combination of conditions."""

    where: Where
    """The value of every condition that the claim names in `each` and `at_each`."""
    ours: tuple[float, ...]
    """Our value for every seed, in the unit of the claim. Empty for a comparison of two quantities."""
    result: PartResult

    @property
    def mean(self) -> float | None:
        """Mean of `ours`; None if a run has no finite value."""
        return sum(self.ours) / len(self.ours) if self.ours and all(map(isfinite, self.ours)) else None


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim and its verdict under one reading of the paper."""

    claim: Claim
    reading: str
    """Name of the reading; empty for a claim that does not depend on readings."""
    parts: tuple[Part, ...]
    verdict: Verdict
    counts: bool = True
    """Whether the result is counted in the tally of verdicts: the claim is not marked `uncounted`, and the
    reading is the first reading."""
    closest: bool = False
    """Whether no other reading gives a result closer to the printed value."""
    note: str = ""
    """Remark that a report shows after our number."""

    @property
    def numbers(self) -> list[Part]:
        """The parts of the claim that have a number. Two inequalities about the same number count as one
        part."""
        return list({str(part.where): part for part in self.parts if part.ours}.values())

    @property
    def mean(self) -> float | None:
        """Our mean if the claim has a single number, otherwise None."""
        return self.numbers[0].mean if len(self.numbers) == 1 else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The 95 % interval of `mean`, truncated at the smallest and largest possible value of the
        quantity."""
        if self.mean is None:
            return None
        number = self.numbers[0]
        named = {**self.claim.where, **number.where}.get("quantity", self.claim.quantity)
        quantity = "change" if self.claim.kind == "change" else str(named)
        interval = interval_of(quantity, number.ours)
        return (interval.low, interval.high) if interval else None

    @property
    def held(self) -> int:
        """Number of parts that are reproduced."""
        return sum(part.result.verdict is Verdict.REPRODUCED for part in self.parts)

    @property
    def by_tolerance(self) -> bool:
        """Whether the claim is reproduced, but at least one number only within the tolerance of `RULE`."""
        given = any(part.result.by_tolerance for part in self.parts)
        return given and self.verdict is Verdict.REPRODUCED

    @property
    def factor(self) -> float | None:
        """Ratio of our change to the printed change if the claim has a single number, otherwise None."""
        return self.parts[0].result.factor if len(self.parts) == 1 else None

    @property
    def why(self) -> Cause | None:
        """Cause of the difference if the result counts and the claim is not reproduced, otherwise None."""
        if self.verdict is Verdict.CONTRADICTED:
            return Cause.OWN_ERROR
        if self.verdict in SETTLED or not self.counts:
            return None
        return self.claim.why or Cause.UNKNOWN

    @property
    def distance(self) -> float:
        """Distance of our result from the printed claim. For a single number, this is the difference in the
        claim's unit. Otherwise it is the share of parts that are not reproduced."""
        if self.claim.between is not None and self.mean is not None:
            return max(self.claim.between.low - self.mean, self.mean - self.claim.between.high, 0.0)
        return 1 - self.held / len(self.parts) if self.parts else inf


@dataclass(frozen=True)
class ClaimChecker:
    """Checks claims against measurements.

    Args:
        found: Our measurements.
        readings: Readings of the paper. The first reading counts. Readings are values of the condition `key`,
        or algorithms that replace `subject`.
        key: The condition whose values are the readings; empty if the readings are algorithms.
        subject: Name in claims of the algorithm that readings replace.
        others: All algorithms that claims about ranks compare.
    """

    found: Measurements
    readings: Sequence[str]
    key: str = ""
    subject: str = ""
    others: Sequence[str] = ()

    def check(self, claim: Claim) -> list[ClaimResult]:
        """Return a result for every reading that was measured. The results closest to the printed value are
        marked."""
        if claim.kind in UNMEASURED:
            verdict = Verdict.CONTRADICTED if claim.kind == "contradicted" else Verdict.NOT_TESTABLE
            return [ClaimResult(claim, "", (), verdict, counts=not claim.uncounted)]
        if claim.published:
            judged = _result(claim, "", self._test(claim, self.found, ""))
            return [replace(judged, verdict=BY_DATA[judged.verdict])]
        readings = self._readings(claim)
        if not readings:
            return [_result(claim, "", self._test(claim, self.found, ""))]
        each = [_result(claim, reading, self._test(claim, *self._under(reading))) for reading in readings]
        first = self.readings[0]
        return with_closest([replace(j, counts=j.counts and j.reading == first) for j in each])

    def check_all(self, claims: Iterable[Claim]) -> list[ClaimResult]:
        """Return the results of all claims under every reading."""
        return [result for claim in claims for result in self.check(claim)]

    def _readings(self, claim: Claim) -> list[str]:
        if self.key:
            known = self.found.choices(claim.experiment, self.key)
            return [reading for reading in self.readings if reading in known]
        return list(self.readings) if self.subject in claim.named else []

    def _under(self, reading: str) -> tuple[Measurements, str]:
        """Return the measurements under a reading, and the algorithm that replaces the subject or ""."""
        return (self.found.under({self.key: reading}), "") if self.key else (self.found, reading)

    def _test(self, claim: Claim, found: Measurements, reading: str) -> tuple[Part, ...]:
        test = Test(claim, found, {self.subject: reading} if reading else {}, self.others)
        return tuple(test.parts())


@dataclass(frozen=True)
class Test:
    """One claim, and the measurements against which the claim is checked."""

    claim: Claim
    found: Measurements
    stands_for: Mapping[Value, str]
    """Names of measured algorithms, by the names in claims that they replace."""
    others: Sequence[str]

    def parts(self) -> Iterator[Part]:
        """Yield a part for every number or comparison of the claim."""
        measured = {key: self.found.choices(self.claim.experiment, key) for key in self.claim.at_each}
        spans = {**self.claim.each, **measured}
        for values in product(*spans.values()):
            named = dict(zip(spans, values, strict=True))
            where = {**self.claim.where, **named}
            if self.claim.kind == "between":
                yield self._value(named, where)
            elif self.claim.kind == "change":
                yield self._change(named, where)
            elif self.claim.kind == "equals":
                yield from self._equals(named, where)
            elif self.claim.kind == "bounds":
                yield from self._bounds(named, where)
            else:
                for comparison in self._comparisons(where):
                    yield Part(named, (), check_comparison(comparison))

    def _value(self, named: Where, where: Where) -> Part:
        ours, direction, against = self._at(where), None, self.claim.against
        if against is not None:
            reference = self._at({**where, **against.where})
            direction = Direction(self._missing([against.printed])[0], self._missing(reference))
        return Part(named, tuple(ours), check_number(self._printed(), self._missing(ours), direction))

    def _printed(self) -> Expectation:
        between, ceiling = self.claim.between, self.claim.ceiling
        assert between is not None
        return between if ceiling is None else between.below(ceiling)

    def _missing(self, values: Sequence[float]) -> list[float]:
        """Return the values, or their distances from the ceiling if the claim has a ceiling."""
        ceiling = self.claim.ceiling
        return list(values) if ceiling is None else [ceiling - value for value in values]

    def _change(self, named: Where, where: Where) -> Part:
        of = self._at({**where, "algorithm": self.claim.what["of"]})
        against = self._at({**where, "algorithm": self.claim.what["against"]})
        pairs = list(zip(of, against, strict=True)) if of and against else []
        if self.claim.points:
            ours = [0.0 if a == b else a - b for a, b in pairs]
        else:
            ours = [0.0 if a == b else 100 * (a / b - 1) if b else inf for a, b in pairs]
        none = Direction(0.0, [0.0] * len(ours))
        assert self.claim.between is not None
        return Part(named, tuple(ours), check_number(self.claim.between, ours, none))

    def _equals(self, named: Where, where: Where) -> Iterator[Part]:
        """Yield a part for every printed quantity. A value from published data counts as the value of one
        run."""
        for quantity, printed in self.claim.what.items():
            ours = self._at({**where, "quantity": quantity})
            told = Verdict.REPRODUCED if ours and is_as_printed(ours[0], printed) else Verdict.NOT_REPRODUCED
            result = PartResult(told) if ours else NO_VALUE
            yield Part({**named, "quantity": quantity}, tuple(ours), result)

    def _bounds(self, named: Where, where: Where) -> Iterator[Part]:
        ours = self._at(where)
        for bound, constant in self.claim.what.items():
            sign = 1 if bound in ("above", "at_least") else -1
            beyond = [sign * (value - constant) for value in ours]
            strict = bound in ("above", "below")
            yield Part(named, tuple(ours), check_comparison(beyond, strict=strict))

    def _comparisons(self, where: Where) -> Iterator[list[float]]:
        """Yield the differences between the two sides of each comparison: one per seed, as a share of the
        mean, positive if the claim holds."""
        kind, what = self.claim.kind, self.claim.what
        if kind == "higher":
            found = self._differences({**where, **what}, {**where, **self.claim.lower})
            yield [difference + self.claim.slack for difference in found]
        elif kind in ("rising", "falling"):
            steps = self.found.choices(self.claim.experiment, what)
            for pair in pairwise(s for s in steps if where.get(what, s) == s):
                low, high = pair if kind == "rising" else pair[::-1]
                yield self._differences({**where, what: high}, {**where, what: low})
        else:
            yield self._rank(where)

    def _rank(self, where: Where) -> list[float]:
        """Return, for every seed, the difference from the k-th best other algorithm, positive if the claim
        holds."""
        mine = self._at(where)
        others = [
            self._at({**where, "algorithm": name}) for name in self.others if name != where["algorithm"]
        ]
        if not (mine and all(others)):
            return []
        sign = 1 if self.claim.kind == "lowest" else -1
        bars = [
            sign * sorted(sign * value for value in column)[self.claim.what - 1]
            for column in zip(*others, strict=True)
        ]
        return [sign * difference for difference in differences(bars, mine)]

    def _differences(self, above: Where, below: Where) -> list[float]:
        highs, lows = self._at(above), self._at(below)
        if not (highs and lows):  # one of the two quantities was not measured
            return []
        return differences(highs, lows)

    def _at(self, where: Where) -> list[float]:
        """Return one measured value per seed.

        Raises ValueError if the value is a mean over a condition that `mean_over` does not name.
        """
        where = dict(where)
        algorithm = where.pop("algorithm")
        quantity = str(where.pop("quantity", self.claim.quantity))
        name = self.stands_for.get(algorithm, str(algorithm))
        unsaid = self.found.open(self.claim.experiment, quantity, name, where) - {*self.claim.mean_over}
        if unsaid:
            raise ValueError(f"{self.claim.id}: add {', '.join(sorted(unsaid))} to where or to mean_over")
        return self.found.at(self.claim.experiment, quantity, name, where)


def _result(claim: Claim, reading: str, parts: tuple[Part, ...]) -> ClaimResult:
    part_results = [part.result for part in parts]
    verdict = verdict_of_all(part_results) if claim.kind in NUMBERS else verdict_in_words(part_results)
    return ClaimResult(claim, reading, parts, verdict, counts=not claim.uncounted)


def with_closest(each: Sequence[ClaimResult]) -> list[ClaimResult]:
    """Mark the closest readings: the best verdict and, with this verdict, the smallest distance from the
    printed value."""
    order = list(Verdict)
    ranks = [(order.index(j.verdict), round(j.distance, 9)) for j in each]
    return [replace(j, closest=rank == min(ranks)) for j, rank in zip(each, ranks, strict=True)]
