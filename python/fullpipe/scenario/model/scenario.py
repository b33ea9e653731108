"""The fields of a scenario."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Model, Name, Switch
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.later import later
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.quantities import Seconds, SecondsOrOff

if TYPE_CHECKING:
    from fullpipe.scenario.model.cells import Cell
    from fullpipe.scenario.model.hosts import Host
    from fullpipe.scenario.model.mobility import Move
    from fullpipe.scenario.model.ns3 import Ns3
    from fullpipe.scenario.model.route_control import RouteController
    from fullpipe.scenario.model.topology import Topology
else:
    _HERE = __name__.rpartition(".")[0]
    Cell = later(f"{_HERE}.cells", "Cell")
    Host = later(f"{_HERE}.hosts", "Host")
    Move = later(f"{_HERE}.mobility", "Move")
    Ns3 = later(f"{_HERE}.ns3", "Ns3")
    RouteController = later(f"{_HERE}.route_control", "RouteController")
    Topology = later(f"{_HERE}.topology", "Topology")

MAX_HOSTS = 10_000
MAX_CELLS = 1_000
MAX_MOVES = 1_000
MAX_CONTROLLERS = 100
MOST_LETTERS = 100
"""Of a label."""
ENGINE_OPTIONS = frozenset({"ns3"})
"""Keys that only some engines read: they have no part in what stands for a run of the others."""


def _axis(value: object) -> object:
    if not isinstance(value, list | tuple | dict):
        raise ValueError(f"expected a list of values or a table of variants, got {shown(value)}")
    if not value:
        raise ValueError("has 0, must have at least 1")
    for name, values in value.items() if isinstance(value, dict) else ():
        if not isinstance(values, dict):
            example = f'{name} = {{ "tcp.mss" = "1420 B" }}'
            raise ValueError(f"{name}: expected paths and their values, as in {example}; got {shown(values)}")
    return value


Words = Annotated[
    str, Field(strict=True, min_length=1, max_length=MOST_LETTERS, pattern=r"^[^\x00-\x1f\x7f]+$")
]
"""Text of one line, for people."""
Axis = Annotated[tuple[Any, ...] | dict[str, dict[str, Any]], BeforeValidator(_axis)]
"""Values, or variants by name."""


class Record(Model):
    """What is sampled over time. Summaries over the whole run are always kept."""

    interval_s: SecondsOrOff = Field(0.1, alias="interval", examples=["100 ms"])
    """Time between samples of every flow and link; "off" keeps summaries only."""
    variables: Switch = False
    """Also sample the internal variables of the algorithms, and write them down whenever a state changes."""
    packets: tuple[Name, ...] | None = Field(None, examples=['["sender"]'])
    """Where packet headers are captured: "sender", "receiver", and links and ports by name, where packets
    leave them. Left out: nowhere. It costs about 150 B of memory per packet and point."""
    in_order: Switch = False
    """Also measure the time from the first transmission of each data packet of TCP until its payload is
    delivered in order."""


class ScenarioModel(Model):
    """What a scenario says, part by part. `Scenario` reads it, checks it and writes it."""

    name: Name = Field(examples=["my-experiment"])
    duration_s: Annotated[Seconds, Field(gt=0)] = Field(alias="duration", examples=["30 s"])
    """Simulated time."""
    warmup_s: Seconds = Field(0.0, alias="warmup")
    """Summaries cover warmup..duration; samples cover everything."""
    topology: Topology = Field(examples=['{ kind = "dumbbell", ... }'])
    tcp: Tcp = Tcp.model_construct()
    """The transport of every flow, which a flow may override."""
    hosts: Annotated[tuple[Host, ...], Field(min_length=1, max_length=MAX_HOSTS)] | None = Field(
        None, examples=['[{ name = "laptop", nic = { rate = "1 Gbit/s" } }]']
    )
    """Hosts with options of their own. Left out: none."""
    cells: Annotated[tuple[Cell, ...], Field(min_length=1, max_length=MAX_CELLS)] | None = Field(
        None, examples=['[{ name = "cable", kind = "shared", ... }]']
    )
    """Media that several nodes of a graph share. Left out: none."""
    mobility: Annotated[tuple[Move, ...], Field(min_length=1, max_length=MAX_MOVES)] | None = Field(
        None, examples=['[{ at = "20 s", node = "handset", to = "mast-b" }]']
    )
    """Nodes of a graph that move from one medium to another, in the order of time. Left out: none does."""
    route_controllers: (
        Annotated[tuple[RouteController, ...], Field(min_length=1, max_length=MAX_CONTROLLERS)] | None
    ) = Field(None, examples=['[{ every = "3 s", policy = "least_loaded", via = [["slow"], ["fast"]] }]'])
    """What chooses the routes of flows of a graph in the course of a run. Left out: nothing does."""
    flows: Annotated[tuple[Flow, ...], Field(min_length=1)] = Field(examples=['[{ cca = "cubic" }]'])
    record: Record = Record.model_construct()
    ns3: Ns3 | None = Field(None, examples=['{ algorithms = "fullpipe" }'])
    """Options of the ns3 engine. Left out: its defaults."""
    sweep: dict[str, Axis] = Field(default_factory=dict)
    """Axes: a path, or several with commas between them, with the values that they take in turn; or a word
    with named variants, each of them paths and their values. The scenario stands for every combination."""

    labels: dict[str, Words] = Field(default_factory=dict)
    """Words for paths, such as "flows.1.count", and for values at them, such as "flows.0.cca.bbr3": figures,
    tables and reports have them. `*` stands for every number in a path. Nothing that is simulated changes."""

    def places(self) -> Collection[str]:
        """What a route may lead past: every node and link of a graph, and the ways of every station in a cell
        to its hub and back."""
        if not isinstance(self.topology, Graph):
            return ()
        names = [f"{cell.name}-{station.node}" for cell in self.cells or () for station in cell.stations]
        ways = (way for name in names for way in (name, f"{name}-reverse"))
        return dict.fromkeys((*self.topology.places, *ways)) if self.cells else self.topology.places

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain data, spelt as in TOML: `Scenario(**s.to_dict()) == s`."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)

    def recordings(self) -> dict[str, str]:
        """Return the SHA-256 of every file that the scenario names, when it was read, by its path there."""
        found: dict[str, str] = {}
        self.model_dump(mode="json", context=found)
        return found

    def tcp_of(self, flow: Flow) -> Tcp:
        """The transport of a flow, its own settings over those of the scenario."""
        return self.tcp.overridden_by(flow.tcp)
