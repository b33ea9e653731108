"""Cells as media with ports."""

from collections.abc import Callable, Iterable, Iterator

from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.network.parts import Medium, Port
from fullpipe.scenario.network.shortest_paths import BACKWARD, Edge


def media_of(cells: Iterable[Cell], behind: Callable[[str], str]) -> list[Medium]:
    """A medium for every cell, with its ports in the order of its kind.

    Args:
        cells: As the scenario describes them.
        behind: The node where what a node sends leaves its network interface.
    """
    return [_medium(f"cells[{i}]", cell, behind) for i, cell in enumerate(cells)]


def edges_of(cells: Iterable[Cell], media: Iterable[Medium], first: int) -> Iterator[Edge]:
    """From every port to each node that it reaches. The way of a station to the hub has the name of both, and
    the way back, whatever port that is, ends in "-reverse".

    Args:
        cells: As the scenario describes them.
        media: The same as media.
        first: The number of the first port.
    """
    for cell, medium in zip(cells, media, strict=True):
        for number, (described, port) in enumerate(zip(cell.ports(), medium.ports, strict=True), first):
            for target in described.targets:
                down = described.source == cell.hub
                name = f"{cell.name}-{target}{BACKWARD}" if down else f"{cell.name}-{described.source}"
                yield Edge(port.node, target, port.delay_ns, number, name)
        first += len(medium.ports)


def _medium(where: str, cell: Cell, behind: Callable[[str], str]) -> Medium:
    ports = (
        Port(
            port.name,
            behind(port.source),
            port.queue,
            cell.mean_delay_s,
            port.limit_bps,
            f"{where}{port.place}",
        )
        for port in cell.ports()
    )
    return Medium(cell.name, cell.kind, tuple(ports), cell.params(), where)
