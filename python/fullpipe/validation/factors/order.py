"""The order in which factors and subjects are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.conclusion import MOST
from fullpipe.validation.compare.finding import Subject
from fullpipe.validation.factors.answer import Answer
from fullpipe.validation.factors.factor import Factor, Row, Status

PREDICATES: dict[Status, str] = {
    "matters": "matters",
    "does not matter": "does not matter",
    "undecided": "is undecided",
}
STATUSES = tuple(PREDICATES)


@dataclass(frozen=True)
class Told:
    """A factor and a subject at all points."""

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
        """The same as the subject of a sentence: the number of BBRv1 flows."""
        return f"the number of {self.name}" if self.is_plural else self.name

    @property
    def is_plural(self) -> bool:
        """Whether the name is of several things that the factor counts: BBRv1 flows."""
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
        """Its metric, its factor, and both, within the family."""
        family, path = self.asked
        metric = self.factors[0].subject.metric
        return ("metric", family, metric), ("factor", family, path), ("both", family, path, metric)

    @property
    def status(self) -> Status:
        """The first status that holds at any point."""
        return next(status for status in STATUSES if self.having(status))

    def having(self, status: Status) -> list[Factor]:
        """The factor at the points of a status."""
        return [each for each in self.factors if each.status == status]

    @property
    def order(self) -> tuple[bool, bool, int, int]:
        """Sorting key: flows that the factor is a setting of, then single groups, then what matters."""
        first = self.factors[0]
        return order(first.path, first.subject.entry, [each.status for each in self.factors])


def order(path: str, entry: int | None, statuses: Collection[str]) -> tuple[bool, bool, int, int]:
    """Sorting key of a factor and a subject: flows that it is a setting of, single groups, what matters.

    Args:
        path: The factor.
        entry: Place of the subject among `flows`; None for all flows and links.
        statuses: The status at every point.
    """
    is_own = entry is not None and path.startswith(f"flows.{entry}.")
    status = next(n for n, word in enumerate(STATUSES) if word in statuses)
    return not is_own, entry is None, status, entry or 0


def weight(found: Answer) -> Callable[[Row], tuple[int, bool, int, float]]:
    """Sorting key of rows in a short table: subjects as the conclusion has them, then what is significant."""
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
    """Factors and subjects, the first ones by turns.

    The next has the metric that was named least often, and of those the factor.
    """
    left, first, named = sorted(told, key=lambda each: each.order), list[Told](), Counter[object]()
    while left and len(first) < MOST:
        following = min(left, key=lambda each: [named[key] for key in each.turns])
        named.update(following.turns)
        first.append(following)
        left.remove(following)
    return [*first, *left]


def grouped(told: Sequence[Told]) -> list[Told]:
    """The same with the factors of a group of flows one after the other, and the metrics of a factor."""
    groups = list(dict.fromkeys(_place(each.factors[0].subject)[:2] for each in told))
    factors = list(dict.fromkeys(each.asked for each in told))
    return sorted(
        told,
        key=lambda each: (groups.index(_place(each.factors[0].subject)[:2]), factors.index(each.asked)),
    )


def _place(subject: Subject) -> tuple[object, ...]:
    """Kind, entry or name, and metric: the same at every point."""
    return subject.kind, subject.of if subject.entry is None else subject.entry, subject.metric


def by_subject(answer: Answer, labels: Labels) -> list[Told]:
    """Every factor and subject with all its points."""
    paths = dict.fromkeys(path for each in answer.factors for path in (each.path, *each.subject.point))
    names, tests = labels.names(list(paths)), Counter(row.family for row in answer.rows if row.is_primary)
    found: dict[tuple[object, ...], list[Factor]] = {}
    for each in answer.factors:
        found.setdefault((each.test.family, each.path, *_place(each.subject)), []).append(each)
    return [Told(of, labels, names, tests[of[0].test.family]) for of in found.values()]
