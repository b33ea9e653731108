"""Handovers with a gap between LTE or NR cells: the old cell forwards waiting packets to the new one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fullpipe.scenario.model.mobility import Move
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.network.mobility import left_by
from fullpipe.scenario.network.parts import HandOver, Medium
from fullpipe.scenario.quantities import to_nanoseconds

GAPS = "user_gaps_ns"
"""The parameter of a cell for the interruptions of its users."""


def hand_overs_of(scenario: ScenarioModel, media: Sequence[Medium], first: int) -> Iterator[HandOver]:
    """Yield the handovers of both ports of a user, each to the port of the same direction in the new cell.

    Args:
        scenario: A scenario whose moves with a gap are between cells.
        media: The media of all its cells.
        first: Index of the first port as a hop.
    """
    for number, move in enumerate(scenario.mobility or ()):
        if move.gap_s is not None:
            old, new = (
                _ports(scenario, media, first, move, name) for name in (left_by(scenario, number), move.to)
            )
            yield from (HandOver(move.at_s, move.gap_s, *ports) for ports in zip(old, new, strict=True))


def with_gaps(scenario: ScenarioModel, media: Sequence[Medium]) -> Iterator[Medium]:
    """Yield the media with the gaps of users that move to them."""
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
    """Return start, duration and period of the gap in nanoseconds. A period of 0 means once."""
    return to_nanoseconds(move.at_s), to_nanoseconds(move.gap_s or 0.0), 0


def _ports(
    scenario: ScenarioModel, media: Sequence[Medium], first: int, move: Move, name: str | None
) -> tuple[int, int]:
    """Return the downlink and the uplink port of a node in the cell of this name."""
    for cell, medium in zip(scenario.cells or (), media, strict=True):
        if cell.name == name:
            down = first + 2 * [station.node for station in cell.stations].index(move.node)
            return down, down + 1
        first += len(medium.ports)
    raise ValueError(f"no cell {name}")
