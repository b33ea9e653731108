"""The answer of a test over factors, and the order of its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fullpipe.analysis import points, statistics
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.errors import ScenarioError, brief
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.read import files
from fullpipe.validation.compare.conclusion import MOST
from fullpipe.validation.compare.contrast import MARGINS, read_margin
from fullpipe.validation.compare.finding import Subject, word
from fullpipe.validation.compare.rules import LEVEL
from fullpipe.validation.test.design import Design, designs, factor_called
from fullpipe.validation.test.factor import Factor, Row, Status, factors_of
from fullpipe.validation.test.tests import follow_ups, several_metrics, tests_of

# Families of tests: p values are corrected within each family, and each test has a verdict.


MOST_FACTORS = 3
"""Maximum number of factors of one design; interactions of more than three factors are hard to interpret."""
Correction = Literal["holm", "bh"]


class Family(BaseModel):
    """Tests that answer one question and are corrected together for multiple testing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = ""
    metrics: tuple[str, ...] = Field(min_length=1)
    """Metrics, each by its name or with a group, such as "rtt_mean of ping"."""
    factors: tuple[str, ...] = Field(min_length=1, max_length=MOST_FACTORS)
    of: tuple[str, ...] = ()
    """Groups of flows or links; default: all."""
    reference: str | None = None
    """Level of the first factor that the other levels are compared with."""
    block: Literal["seed"] | None = None
    margins: dict[str, str] = {}
    """Margins by metric, written as for `--margin`."""
    correction: Correction = "holm"

    @property
    def subjects(self) -> list[points.Subject]:
        """The metrics with their groups. Raises UnknownNameError if a word is no metric."""
        return [points.Subject.read(text) for text in self.metrics]

    def margin(self, metric: str, default: Mapping[str, Margin]) -> Margin:
        """The largest difference of a metric that does not matter.

        Raises:
            ScenarioError: If the text of the margin cannot be read.
        """
        if metric not in self.margins:
            return default[metric]
        return read_margin(f"{metric}={self.margins[metric]}")[1]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    family: dict[str, Family] = Field(min_length=1)


def read_families(path: Path) -> dict[str, Family]:
    """The families of a file, by name.

    Raises:
        ScenarioError: If the file cannot be read or has no family.
    """
    tree: dict[str, Any] = files.parse_toml(files.read_text(path, "family"), str(path))
    try:
        return _File.model_validate(tree).family
    except ValidationError as error:
        raise ScenarioError([_problem(path, problem) for problem in error.errors()]) from None


def _problem(path: Path, problem: Any) -> str:
    where = ".".join(map(str, problem["loc"])) or "the file"
    return (
        f'{path}: {where}: {problem["msg"]}; a family has metrics and factors, such as metrics = ["goodput"]'
    )


@dataclass(frozen=True)
class Answer:
    """Tests of all families, and the status of every factor for every subject."""

    rows: Sequence[Row]
    notes: Sequence[str]
    factors: Sequence[Factor] = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "factors": [factor.to_dict() for factor in self.factors],
            "notes": list(self.notes),
        }


def answer(
    values: pl.DataFrame,
    families: Mapping[str, Family],
    *,
    planned: Collection[str] = (),
    margins: Mapping[str, Margin] | None = None,
    classical: bool = False,
    together: bool = False,
    labels: Labels | None = None,
) -> Answer:
    """Test the metrics of families by their factors.

    Args:
        values: Values of the metrics that families name, as `fullpipe.analysis.values.values_of` returns
            them.
        families: Families by name.
        planned: Names of the families that were declared beforehand.
        margins: Margins by metric that replace the default margins.
        classical: Also test with equal variances: ANOVA and Tukey's HSD.
        together: Also test all metrics of a family in one joint test: MANOVA.
        labels: Labels of groups of flows. Families can name a group by its label.

    Raises:
        ScenarioError: If something cannot be tested; the message has the remedy. See `designs`.
        UnknownNameError: If a factor, group or level is unknown.
        MissingExtraError: If a test needs statsmodels, which is not installed.
    """
    rows: list[Row] = []
    tested: list[tuple[str, Design, Margin]] = []
    notes, allowed = dict[str, None](), {**MARGINS, **(margins or {})}
    for name, family in families.items():
        found, left_out = _designs(values, family, labels)
        notes.update(dict.fromkeys(left_out))
        with_margins = [(design, family.margin(design.subject.metric, allowed)) for design in found]
        tested += [(name, *each) for each in with_margins]
        tests = list(_tests(with_margins, classical=classical, together=together))
        corrected = _corrected(tests, family.correction)
        rows += [replace(row, family=name, is_planned=name in planned) for row in corrected]
    q = statistics.benjamini_hochberg([row.p if row.is_primary else math.nan for row in rows])
    rows = [_decided(replace(row, q=value)) for row, value in zip(rows, q, strict=True)]
    return Answer(rows, list(notes), _factors(tested, rows))


def _factors(tested: Sequence[tuple[str, Design, Margin]], rows: Sequence[Row]) -> list[Factor]:
    primary: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.is_primary:
            primary.setdefault((row.family, *row.subject.key), []).append(row)
    return [
        factor
        for name, design, margin in tested
        for factor in factors_of(design, margin, primary[name, *design.subject.key])
    ]


def _designs(values: pl.DataFrame, family: Family, labels: Labels | None) -> tuple[list[Design], list[str]]:
    """The designs of a family, and notes on left-out subjects."""
    subjects = family.subjects
    chosen = values.filter(pl.col("metric").is_in([each.metric for each in subjects]))
    chosen = points.of_subjects(chosen, subjects, labels, by_entry=True)
    words = labels or Labels()
    found, notes = designs(
        chosen,
        _paths(values, family.factors),
        blocked=family.block is not None,
        of=[
            name
            for word in family.of
            for name in words.groups_called(word, points.groups_at(values, words, word))
        ],
        reference=family.reference,
    )
    if not all(design.is_blocked for design in found):
        notes.append(
            "cells have different seeds, so that runs are taken as independent; --block seed lists the"
            " missing seeds"
        )
    return found, notes


def _tests(tested: Sequence[tuple[Design, Margin]], *, classical: bool, together: bool) -> Iterator[Row]:
    for design, margin in tested:
        try:
            yield from tests_of(design, margin, classical=classical)
        except ValueError as error:
            raise ScenarioError([f"{design.subject.name}: {error}"]) from None
    if together:
        yield from _together([design for design, _ in tested])


def _paths(values: pl.DataFrame, words: Sequence[str]) -> list[str]:
    factors: list[str] = []
    for each in words:
        if (path := factor_called(each, values)) in factors:
            raise ScenarioError([f"{brief(each)}: {path} is named twice; name each factor once"])
        factors.append(path)
    return factors


def _together(found: Sequence[Design]) -> Iterator[Row]:
    groups: dict[str, list[Design]] = {}
    for design in found:
        subject = design.subject
        groups.setdefault(f"{subject.kind} {subject.of} {subject.point}", []).append(design)
    for of_group in groups.values():
        if len(of_group) > 1:
            try:
                yield several_metrics(of_group)
            except ValueError as error:
                raise ScenarioError([f"MANOVA of {of_group[0].subject.of}: {error}"]) from None


def _corrected(rows: Sequence[Row], correction: str) -> Iterator[Row]:
    correct = statistics.holm if correction == "holm" else statistics.benjamini_hochberg
    corrected = correct([row.p if row.is_primary else math.nan for row in rows])
    first = {row.subject.key: p for row, p in zip(rows, corrected, strict=True) if row.is_primary}
    for row, p, of_pair in zip(rows, corrected, follow_ups(rows), strict=True):
        raised = replace(row, tests=_times(of_pair if row.is_follow_up else p, row))
        yield replace(raised, p_corrected=max(of_pair, first[row.subject.key]) if row.is_follow_up else p)


def _times(p: float, row: Row) -> float:
    """Return the factor by which a correction has raised the p value of a test."""
    return max(1.0, p / row.p_raw) if row.p_raw > 0 and p > 0 else 1.0


def _decided(row: Row) -> Row:
    """Add the verdict to a row of a primary test or of a follow-up pair. Rows that only check another test
    have no verdict."""
    if not (row.is_primary or row.is_follow_up):
        return row
    if row.difference is None:
        return replace(row, verdict="different" if row.rejects else "undecided")
    if row.p_equivalent is not None and row.p_equivalent < 1 - LEVEL:
        return replace(row, verdict="equivalent")
    if row.rejects:
        return replace(row, verdict=word(BY_NAME[row.subject.metric].better, row.difference))
    seeds = (
        statistics.pairs_that_decide(row.pairs, row.margin or 0.0, LEVEL, row.tests) if row.pairs else None
    )
    return replace(row, verdict="undecided", seeds=seeds)


# The order of factors and subjects in conclusions and tables.


PREDICATES: dict[Status, str] = {
    "matters": "matters",
    "does not matter": "does not matter",
    "undecided": "is undecided",
}
STATUSES = tuple(PREDICATES)


@dataclass(frozen=True)
class Told:
    """A factor and a subject (a metric of a group or link) at all points of a sweep."""

    factors: Sequence[Factor]
    labels: Labels
    names: Mapping[str, str]
    """Names of all paths."""
    tests: int
    """Tests that are corrected together."""

    @property
    def name(self) -> str:
        """Name of the factor."""
        return self.names[self.path]

    @property
    def subject(self) -> str:
        """The factor as the subject of a sentence, such as "the number of BBRv1 flows"."""
        return f"the number of {self.name}" if self.is_plural else self.name

    @property
    def is_plural(self) -> bool:
        """Whether the name is a plural of things that the factor counts, such as "BBRv1 flows"."""
        is_count = self.path.endswith(".count") and self.name.endswith("flows")
        return is_count and not self.name.startswith("number of ")

    @property
    def path(self) -> str:
        """Path of the factor."""
        return self.factors[0].path

    @property
    def asked(self) -> tuple[str, str]:
        """Family and path of the factor."""
        return self.factors[0].test.family, self.factors[0].path

    @property
    def turns(self) -> tuple[object, ...]:
        """Keys with which `ranked` counts how often a metric, a factor, and both together were named within
        the family."""
        family, path = self.asked
        metric = self.factors[0].subject.metric
        return ("metric", family, metric), ("factor", family, path), ("both", family, path, metric)

    @property
    def status(self) -> Status:
        """The first status, in the order of importance, that holds at any point."""
        return next(status for status in STATUSES if self.having(status))

    def having(self, status: Status) -> list[Factor]:
        """The factor at the points where it has a status."""
        return [each for each in self.factors if each.status == status]

    @property
    def order(self) -> tuple[bool, bool, int, int]:
        """Sorting key: flows with the factor as a setting come first, then single groups, then factors that
        matter."""
        first = self.factors[0]
        return order(first.path, first.subject.entry, [each.status for each in self.factors])


def order(path: str, entry: int | None, statuses: Collection[str]) -> tuple[bool, bool, int, int]:
    """Sorting key of a factor and a subject: flows with the factor as a setting, single groups, importance.

    Args:
        path: The factor.
        entry: Index of the subject in `flows`; None for all flows together and for links.
        statuses: The statuses at all points.
    """
    is_own = entry is not None and path.startswith(f"flows.{entry}.")
    status = next(n for n, word in enumerate(STATUSES) if word in statuses)
    return not is_own, entry is None, status, entry or 0


def weight(found: Answer) -> Callable[[Row], tuple[int, bool, int, float]]:
    """Sorting key of rows in a short table: subjects in the order of the conclusion, then significance."""
    rank: dict[tuple[object, ...], int] = {}
    for told in ranked(by_subject(found, Labels())):
        rank.setdefault(_place(told.factors[0].subject), len(rank))
    return lambda row: (
        rank.get(_place(row.subject), len(rank)),
        not row.rejects,
        len(row.factors),
        row.p_corrected,
    )


def ranked(told: Iterable[Told]) -> list[Told]:
    """Sort factors and subjects so that the first `MOST` have different metrics and factors, as far as
    possible.

    The next item has the metric that was named least often, and among equals the factor that was named least
    often.
    """
    left, first, named = sorted(told, key=lambda each: each.order), list[Told](), Counter[object]()
    while left and len(first) < MOST:
        following = min(left, key=lambda each: [named[key] for key in each.turns])
        named.update(following.turns)
        first.append(following)
        left.remove(following)
    return [*first, *left]


def grouped(told: Sequence[Told]) -> list[Told]:
    """Sort items by group of flows and then by factor."""
    groups = list(dict.fromkeys(_place(each.factors[0].subject)[:2] for each in told))
    factors = list(dict.fromkeys(each.asked for each in told))
    return sorted(
        told,
        key=lambda each: (groups.index(_place(each.factors[0].subject)[:2]), factors.index(each.asked)),
    )


def _place(subject: Subject) -> tuple[object, ...]:
    """Return kind, entry or name, and metric of a subject, which are equal at every point."""
    return subject.kind, subject.of if subject.entry is None else subject.entry, subject.metric


def by_subject(answer: Answer, labels: Labels) -> list[Told]:
    """Every factor and subject with all its points."""
    paths = dict.fromkeys(path for each in answer.factors for path in (each.path, *each.subject.point))
    names, tests = labels.names(list(paths)), Counter(row.family for row in answer.rows if row.is_primary)
    found: dict[tuple[object, ...], list[Factor]] = {}
    for each in answer.factors:
        found.setdefault((each.test.family, each.path, *_place(each.subject)), []).append(each)
    return [Told(of, labels, names, tests[of[0].test.family]) for of in found.values()]
