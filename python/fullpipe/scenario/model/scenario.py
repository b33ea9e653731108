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
    from fullpipe.scenario.model.routing import Move, RouteController
    from fullpipe.scenario.model.topology import Host, Ns3, Topology
else:
    _HERE = __name__.rpartition(".")[0]
    Cell = later(f"{_HERE}.cells", "Cell")
    Host = later(f"{_HERE}.topology", "Host")
    Move = later(f"{_HERE}.routing", "Move")
    Ns3 = later(f"{_HERE}.topology", "Ns3")
    RouteController = later(f"{_HERE}.routing", "RouteController")
    Topology = later(f"{_HERE}.topology", "Topology")

MAX_HOSTS = 10_000
MAX_CELLS = 1_000
MAX_MOVES = 1_000
MAX_CONTROLLERS = 100
MOST_LETTERS = 100
"""Maximum length of a label, in characters."""
ENGINE_OPTIONS = frozenset({"ns3"})
"""Keys that only the engine of the same name reads. The run digests of other engines exclude these keys."""


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
"""One line of free text."""
Axis = Annotated[tuple[Any, ...] | dict[str, dict[str, Any]], BeforeValidator(_axis)]
"""The values of an axis, or its variants by name."""


class Record(Model):
    """Recording of samples over time. Summaries of the whole run are always recorded."""

    interval_s: SecondsOrOff = Field(0.1, alias="interval", examples=["100 ms"])
    """Time between samples of every flow and link. "off": summaries only."""
    variables: Switch = False
    """Also record the internal variables of the algorithms, at every sample and at every change of state."""
    packets: tuple[Name, ...] | None = Field(None, examples=['["sender"]'])
    """Capture points of packet headers: "sender", "receiver", and names of links and ports. A link or port
    captures packets that leave it. Each packet takes about 150 B of memory per point. Left out: none."""
    in_order: Switch = False
    """Also measure, for each TCP data packet, the time from its first transmission until its payload is
    delivered in order."""


class ScenarioModel(Model):
    """The keys of a scenario. The subclass `Scenario` reads, checks and writes scenarios."""

    name: Name = Field(examples=["my-experiment"])
    """Name of the experiment."""
    duration_s: Annotated[Seconds, Field(gt=0)] = Field(alias="duration", examples=["30 s"])
    """Simulated time of the run."""
    warmup_s: Seconds = Field(0.0, alias="warmup")
    """Initial part of the run that summaries exclude. Summaries cover `warmup` to `duration`; samples cover
    the whole run."""
    topology: Topology = Field(examples=['{ kind = "dumbbell", ... }'])
    """The network: a dumbbell or a graph."""
    tcp: Tcp = Tcp.model_construct()
    """The transport of all flows. A flow can override the transport."""
    hosts: Annotated[tuple[Host, ...], Field(min_length=1, max_length=MAX_HOSTS)] | None = Field(
        None, examples=['[{ name = "laptop", nic = { rate = "1 Gbit/s" } }]']
    )
    """Hosts with options of their own. Left out: none."""
    cells: Annotated[tuple[Cell, ...], Field(min_length=1, max_length=MAX_CELLS)] | None = Field(
        None, examples=['[{ name = "cable", kind = "shared", ... }]']
    )
    """Media shared by several nodes, such as Wi-Fi, LTE and NR cells. Left out: none."""
    mobility: Annotated[tuple[Move, ...], Field(min_length=1, max_length=MAX_MOVES)] | None = Field(
        None, examples=['[{ at = "20 s", node = "handset", to = "mast-b" }]']
    )
    """Moves of nodes of a graph from one medium to another, in the order of time. Left out: none."""
    route_controllers: (
        Annotated[tuple[RouteController, ...], Field(min_length=1, max_length=MAX_CONTROLLERS)] | None
    ) = Field(None, examples=['[{ every = "3 s", policy = "least_loaded", via = [["slow"], ["fast"]] }]'])
    """Controllers that choose the routes of flows of a graph during the run. Left out: none."""
    flows: Annotated[tuple[Flow, ...], Field(min_length=1)] = Field(examples=['[{ cca = "cubic" }]'])
    """The flows. Each entry describes one flow or, with `count`, several."""
    record: Record = Record.model_construct()
    """Recording of samples over time."""
    ns3: Ns3 | None = Field(None, examples=['{ algorithms = "fullpipe" }'])
    """Options of the ns3 engine. Left out: its defaults."""
    sweep: dict[str, Axis] = Field(default_factory=dict)
    """Axes of the sweep; every combination of their values is run. An axis is a path, or several paths
    separated by commas, with a list of values. An axis can also be any word with a table of named variants.
    Each variant sets paths to values."""

    labels: dict[str, Words] = Field(default_factory=dict)
    """Labels in figures, tables and reports for paths, such as "flows.1.count", for their values, such as
    "flows.0.cca.bbr3", and for groups of flows, such as "flows.upload". `*` matches every index in a path.
    Labels never change results."""

    def places(self) -> Collection[str]:
        """Return the names that a route may contain: nodes and links of a graph, and for each station of a
        cell, "<cell>-<station>" (to the hub) and "<cell>-<station>-reverse" (from the hub)."""
        if not isinstance(self.topology, Graph):
            return ()
        names = [f"{cell.name}-{station.node}" for cell in self.cells or () for station in cell.stations]
        ways = (way for name in names for way in (name, f"{name}-reverse"))
        return dict.fromkeys((*self.topology.places, *ways)) if self.cells else self.topology.places

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as plain data, spelt as in TOML: `Scenario(**s.to_dict()) == s`."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)

    def recordings(self) -> dict[str, str]:
        """Return the SHA-256 of every file named in the scenario, by its path. The digests are those of the
        files when the scenario was read."""
        found: dict[str, str] = {}
        self.model_dump(mode="json", context=found)
        return found

    def tcp_of(self, flow: Flow) -> Tcp:
        """Return the transport of a flow: that of the scenario, with the overrides of the flow."""
        return self.tcp.overridden_by(flow.tcp)
