"""Cells in the input of the program, and unsupported parts of cells."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.lacks import NATIVE
from fullpipe.engines.ns3.lte_input import lte_lines, lte_problems, scheduled_blocks
from fullpipe.engines.ns3.queues import ns3_queue
from fullpipe.engines.ns3.wifi_input import wifi_lines, wifi_problems
from fullpipe.scenario import Medium, Network, Port, Scenario
from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.model.cells.lte import Lte
from fullpipe.scenario.model.cells.wifi import Wifi
from fullpipe.scenario.model.link.queues import Discipline


def cell_lines(cell: Cell, medium: Medium) -> Iterator[str]:
    """Yield the lines of a cell and its ports, in order."""
    yield f"cell {cell.name}"
    if isinstance(cell, Wifi):
        yield from wifi_lines(cell, medium)
    elif isinstance(cell, Lte):  # `check` refuses other kinds
        yield from lte_lines(cell)
    for port in medium.ports:
        yield from _port(port)


def _port(port: Port) -> Iterator[str]:
    yield f"port {port.name}"
    if isinstance(port.queue, Discipline):
        queue = ns3_queue(port.queue)
        yield f"queue {queue.type} {queue.quantum}"
        for name, value in queue.attributes.items():
            yield f"queue_attribute {name} {value}"
    elif port.queue:
        yield f"fifo {port.queue.packets or 0} {port.queue.limit_bytes or 0}"


def cell_problems(scenario: Scenario, network: Network) -> Iterator[Problem]:
    """Yield unsupported parts of cells."""
    for i, cell in enumerate(scenario.cells or ()):
        if isinstance(cell, Wifi):
            yield from wifi_problems(f"cells[{i}]", cell)
        elif isinstance(cell, Lte):
            yield from lte_problems(f"cells[{i}]", cell)
    own = {hop.name for medium in network.media for hop in medium.ports}
    for routed in network.flows:
        for new in routed.later:
            for route in (new.forward, new.reverse):
                if route and own & {network.hops[n].name for n in route}:
                    yield Problem("mobility", "the ns3 engine moves nothing into a cell; use --engine native")


def cell_remarks(scenario: Scenario) -> Iterator[str]:
    """Yield remarks on cells that ns-3 models differently."""
    for cell in scenario.cells or ():
        in_turn = isinstance(cell, Lte) and cell.scheduler == "round_robin" and len(cell.stations) > 1
        if in_turn:
            yield f"{cell.name} divides each slot among users in turn: natively each has a slot to itself"
        if isinstance(cell, Wifi) and not cell.release_each:
            yield f"{cell.name} hands up packets of an aggregate one by one: natively release_each = true"
        if isinstance(cell, Lte) and scheduled_blocks(cell) != cell.carrier[0]:
            blocks = scheduled_blocks(cell)
            yield f"{cell.name} gives away groups of resource blocks: natively resource_blocks = {blocks}"


def remedy(family: str, name: str) -> str:
    """Return what to do about an entry of the registry that ns-3 lacks."""
    if (family, name) == ("media", "nr"):
        return f"NR is 5G-LENA, which is not in ns-3's wheel: build it and ns-3 from source, or {NATIVE}"
    return NATIVE
