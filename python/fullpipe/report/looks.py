"""The colours of labels: those of their algorithms, as in every figure."""

from __future__ import annotations

from collections.abc import Sequence

from fullpipe.palette import COLOURS, DASHES, look_of
from fullpipe.report.content import Look


def look(label: str, number: int) -> Look:
    """The look of a label: see `fullpipe.palette.look_of`."""
    found = look_of(label, number)
    return Look(COLOURS.index(found.color), DASHES.index(found.linestyle))


def of_flows(algorithms: Sequence[str | None]) -> list[Look]:
    """A look for every flow, given its algorithm: the colour is that of the algorithm.

    Flows without an algorithm, such as calls, have the last colours, whatever flows are beside them.
    """
    is_other = [algorithm is None for algorithm in algorithms]
    numbers = [len(COLOURS) - sum(is_other[: n + 1]) if other else n for n, other in enumerate(is_other)]
    return distinct([algorithm or "" for algorithm in algorithms], numbers)


def distinct(labels: list[str], numbers: Sequence[int] | None = None) -> list[Look]:
    """A look for every label; of several flows of one algorithm, others for those after the first."""
    found: list[Look] = []
    for number, label in zip(numbers or range(len(labels)), labels, strict=True):
        wanted = look(label, number)
        places = [(wanted.colour, (wanted.dash + turn) % len(DASHES)) for turn in range(len(DASHES))]
        places += [(colour, dash) for dash in range(len(DASHES)) for colour in range(len(COLOURS))]
        free = next((place for place in places if Look(*place) not in found), places[0])
        found.append(Look(*free))
    return found
