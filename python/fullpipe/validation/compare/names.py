"""Names of sides, points and values in sentences and tables: words of users, or those of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.shown import point_shown
from fullpipe.scenario.labels import Labels

if TYPE_CHECKING:
    from fullpipe.validation.compare.comparison import Comparison
    from fullpipe.validation.compare.finding import Finding


class Names:
    """The names that are shown. Keys and values of JSON stay as they are in scenarios.

    Args:
        labels: Words for paths and values.
        settings: What each side sets, by path.
    """

    def __init__(
        self, labels: Labels | None = None, settings: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self.labels = labels or Labels()
        self._sides = {
            side: ", ".join(self.labels.value(path, value) for path, value in values.items())
            for side, values in (settings or {}).items()
        }

    def side(self, name: str) -> str:
        """The values that a side sets, in words; without settings the name that it has."""
        return self._sides.get(name) or name

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
        made: The comparisons; labels are those of their scenarios.
        given: Other words, which come before those.
    """
    scenarios = {one.side: one.scenario for each in made for one in each.ran}.values()
    trees: Iterable[Mapping[str, Any]] = (
        each if isinstance(each, Mapping) else each.to_dict() for each in scenarios
    )
    settings = {side: values for each in made for side, values in each.settings.items()}
    return Names(Labels(given, trees), settings)
