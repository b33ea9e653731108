"""Cells as media with ports."""

from collections.abc import Callable, Iterable, Iterator

from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.network.parts import Medium, Port
from fullpipe.scenario.network.shortest_paths import BACKWARD, Edge


def media_of(cells: Iterable[Cell], behind: Callable[[str], str]) -> list[Medium]:
    """Return a medium for every cell, with its ports in the order defined by the kind of cell.

    Args:
        cells: The cells of the scenario.
        behind: Returns the node behind a node's network interface, or the node itself if it has none.
    """
    return [_medium(f"cells[{i}]", cell, behind) for i, cell in enumerate(cells)]


def edges_of(cells: Iterable[Cell], media: Iterable[Medium], first: int) -> Iterator[Edge]:
    """Yield an edge from every port to each node that it reaches.

    The edge from a station to the hub is named "<cell>-<station>"; the opposite edge ends in "-reverse".

    Args:
        cells: The cells of the scenario.
        media: The media of these cells.
        first: Index of the first port as a hop.
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
