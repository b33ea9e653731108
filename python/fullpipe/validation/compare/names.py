"""Names of sides, points and values in sentences and tables: words of users, or those of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.shown import point_shown
from fullpipe.scenario.labels import Labels

if TYPE_CHECKING:
    from fullpipe.validation.compare.comparison import Comparison
    from fullpipe.validation.compare.finding import Finding


_BARE = re.compile(r"[-+]?[0-9][-+0-9.,e]*( \S+)?|on|off|default")


def _is_bare(text: str) -> bool:
    """Whether a value says nothing without its path."""
    return _BARE.fullmatch(text) is not None


class Names:
    """The names that are shown. Keys and values of JSON stay as they are in scenarios.

    Args:
        labels: Words for paths and values.
        settings: What each side sets, by path.

    >>> names = Names(settings={"1": {"flows.0.count": 1}, "4": {"flows.0.count": 4}})
    >>> names.side("4"), names.value("4"), names.instead("4", "1")
    ('number of flows 4', '4', 'number of flows 4 instead of 1')
    """

    def __init__(
        self, labels: Labels | None = None, settings: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self.labels = labels or Labels()
        self._settings = settings or {}

    def side(self, name: str) -> str:
        """The values that a side sets, in words; without settings the name that it has.

        A number, "on", "off" and "default" follow the name of their path.
        """
        settings = self._settings.get(name, {})
        paths = self.labels.names([*settings])
        told = (
            self.labels.at(path, value, paths[path]) if _is_bare(text) else text
            for path, value in settings.items()
            for text in [self.labels.value(path, value)]
        )
        return " with ".join(told) or name

    def value(self, name: str) -> str:
        """The values of a side without the names of their paths."""
        values = (self.labels.value(*each) for each in self._settings.get(name, {}).items())
        return " with ".join(values) or name

    def instead(self, other: str, reference: str) -> str:
        """Both sides where one is set instead of the other; first words that both have are said once."""
        return f"{self.side(other)} instead of {self.apart(reference, other)}"

    def against(self, other: str, reference: str) -> str:
        """Both sides where they are compared."""
        return f"{self.side(other)} against {self.apart(reference, other)}"

    def apart(self, name: str, other: str) -> str:
        """A side without the first words that the other has, too, such as the name of a path; all if none is
        left."""
        words, others = self.side(name).split(" "), self.side(other).split(" ")
        shared = 0
        while shared < min(len(words), len(others)) and words[shared] == others[shared]:
            shared += 1
        return " ".join(words[shared:] or words)

    def point(self, found: Finding) -> str:
        """The point of a finding."""
        return ", ".join(point_shown(found.point, self.labels))

    def place(self, found: Finding, *, with_side: bool = False, with_group: bool = True) -> str:
        """Side, case, point and group of a finding, as far as they are asked for and there are any."""
        side = self.side(found.sides[1]) if with_side else ""
        group = found.of if with_group else ""
        return ", ".join(filter(None, [side, found.case, self.point(found), group]))


def names_of(made: Sequence[Comparison], given: Mapping[str, str] | None = None) -> Names:
    """The names of comparisons with one reference.

    Args:
        made: The comparisons; labels are those of their scenarios, in all cases and at all points.
        given: Other words, which come before those.
    """
    ran = {id(one): one for each in made for one in each.ran}.values()
    scenarios = {repr((one.side, one.case, dict(one.point))): one.scenario for one in ran}.values()
    trees: Iterable[Mapping[str, Any]] = (
        each if isinstance(each, Mapping) else each.to_dict() for each in scenarios
    )
    settings = {side: values for each in made for side, values in each.settings.items()}
    return Names(Labels(given, trees), settings)
