"""Cells as media with ports."""

from collections.abc import Callable, Iterable

from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.network.parts import Medium, Port


def media_of(cells: Iterable[Cell], behind: Callable[[str], str]) -> list[Medium]:
    """A medium for every cell: first the port of its hub, then those of its stations in order.

    Args:
        cells: As the scenario describes them.
        behind: The node where what a node sends leaves its network interface.
    """
    return [_medium(f"cells[{i}]", cell, behind) for i, cell in enumerate(cells)]


def _medium(where: str, cell: Cell, behind: Callable[[str], str]) -> Medium:
    described = [(where, cell.hub, cell.queue)]
    for i, station in enumerate(cell.stations):
        own = f"{where}.stations[{i}]"
        queue, place = (cell.queue, where) if station.queue is None else (station.queue, own)
        described.append((place, station.node, queue))
    ports = (
        Port(f"{cell.name}-{node}", behind(node), queue, cell.delay_s, cell.limit_bps, place)
        for place, node, queue in described
    )
    return Medium(cell.name, cell.kind, tuple(ports), cell.params(), where)
