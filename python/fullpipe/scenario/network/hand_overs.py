"""Nodes that go from one LTE or NR cell to another with a gap: the old cell hands over what waits."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fullpipe.scenario.model.mobility import Move
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.network.mobility import left_by
from fullpipe.scenario.network.parts import HandOver, Medium
from fullpipe.scenario.quantities import to_nanoseconds

GAPS = "user_gaps_ns"
"""The parameter of a cell that says when its users neither send nor receive."""


def hand_overs_of(scenario: ScenarioModel, media: Sequence[Medium], first: int) -> Iterator[HandOver]:
    """What either port of a user hands over to that of the same way in another cell.

    Args:
        scenario: Whose moves with a gap are from one cell to another.
        media: Of all its cells.
        first: The number of the first port.
    """
    for number, move in enumerate(scenario.mobility or ()):
        if move.gap_s is not None:
            old, new = (
                _ports(scenario, media, first, move, name) for name in (left_by(scenario, number), move.to)
            )
            yield from (HandOver(move.at_s, move.gap_s, *ports) for ports in zip(old, new, strict=True))


def with_gaps(scenario: ScenarioModel, media: Sequence[Medium]) -> Iterator[Medium]:
    """The same media, whose users come to them with a gap."""
    for cell, medium in zip(scenario.cells or (), media, strict=True):
        coming = [move for move in scenario.mobility or () if move.gap_s is not None and move.to == cell.name]
        if not coming:
            yield medium
            continue
        gaps = [
            [*given, *(number for move in coming if move.node == user.node for number in _numbers(move))]
            for given, user in zip(medium.params[GAPS], cell.stations, strict=True)
        ]
        yield replace(medium, params={**medium.params, GAPS: gaps})


def _numbers(move: Move) -> tuple[int, int, int]:
    """Start, length and period of its gap in nanoseconds; it comes once."""
    return to_nanoseconds(move.at_s), to_nanoseconds(move.gap_s or 0.0), 0


def _ports(
    scenario: ScenarioModel, media: Sequence[Medium], first: int, move: Move, name: str | None
) -> tuple[int, int]:
    """The ports of a node in the cell of this name, down and up."""
    for cell, medium in zip(scenario.cells or (), media, strict=True):
        if cell.name == name:
            down = first + 2 * [station.node for station in cell.stations].index(move.node)
            return down, down + 1
        first += len(medium.ports)
    raise ValueError(f"no cell {name}")
