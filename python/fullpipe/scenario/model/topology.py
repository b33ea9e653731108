"""Topologies: hosts, routers and links."""

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Model, Name, ProblemsError, Switch, WithinError
from fullpipe.scenario.model.flows import Cca
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.model.link import Access, LinkModel, Rate
from fullpipe.scenario.model.link.queues import Queue
from fullpipe.scenario.model.routing import Alternation, RerouteModel
from fullpipe.scenario.quantities import Bytes

# Hosts: options of a kernel and a network card that apply to all flows of a host.


class Nic(Model):
    """The network interface of a host. Data and ACKs of all its flows leave through it."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["1 Gbit/s"])
    """Link rate of the interface. Left out: unlimited."""
    queue: Queue | None = Field(None, examples=['{ kind = "fq" }'])
    """Queue of outgoing packets. Left out: first in, first out, without a limit."""


class Host(Model):
    """A host with options: a node of a graph, or a host that a flow of a dumbbell names in `hosts`."""

    name: Name = Field(examples=["laptop"])
    """Name of the host."""
    nic: Nic | None = Field(None, examples=['{ rate = "1 Gbit/s", queue = { kind = "fq" } }'])
    """Network interface that all flows of the host share. Left out: flows do not queue behind each other at
    the host."""
    terminated: Switch | None = Field(None, examples=[True])
    """Whether the host, a node of a graph, terminates TCP like a proxy or a NAT in user space. A flow through
    the host is split into two connections. The first connection runs from the sender to the host, and has the
    name of the flow. The second connection runs from the host to the receiver, and is named "<flow>-<host>".
    Datagrams are forwarded."""
    proxy_buffer_bytes: Annotated[Bytes, Field(ge=9_000)] | None = Field(
        None, alias="proxy_buffer", examples=["256 KiB"]
    )
    """Buffer of a terminating host for each flow: payload received in order on the first connection and not
    yet acknowledged on the second. The free part of this buffer is the receive window that the host
    advertises to the sender. Left out: 256 KiB."""
    proxy_cca: Cca | None = Field(None, examples=["cubic"])
    """Congestion control of the connections that a terminating host opens. Left out: the flow's algorithm."""

    @model_validator(mode="after")
    def _ends_tcp(self) -> Self:
        for key in ("proxy_buffer", "proxy_cca"):
            name = "proxy_buffer_bytes" if key == "proxy_buffer" else key
            if name in self.model_fields_set and not self.terminated:
                raise WithinError((key, "needs terminated = true"))
        return self


# The network: a dumbbell, or a graph of nodes and links.


class Bottleneck(LinkModel):
    """The link that all flows share, or a cell that replaces it."""

    cell: Name | None = Field(None, examples=["home"])
    """Name of a cell that replaces the bottleneck link in both directions; all other keys are then left out.
    Left out: the bottleneck is a link."""

    @model_validator(mode="after")
    def _cell_or_link(self) -> Self:
        given = sorted(self.model_fields_set - {"cell"})
        if self.cell is not None and given:
            key = type(self).model_fields[given[0]].alias or given[0]
            raise WithinError((key, "a cell replaces the link; leave this key out, or write it in the cell"))
        return self


class Dumbbell(Model):
    """Senders and receivers on access links, and one bottleneck between them.

    Data passes the sender's access link, the bottleneck and the receiver's access link. ACKs return over
    three links in the opposite direction. The base RTT is twice the sum of the three links' delays. A flow
    with `direction = "reverse"` sends in the opposite direction: its data shares the link `reverse` with the
    ACKs of other flows.

    If a cell replaces the bottleneck, each flow runs between a station of the cell and a host on a wire
    behind the hub. `access` describes that wire.
    """

    kind: Literal["dumbbell"]
    bottleneck: Bottleneck
    """The forward direction: data of downloads, ACKs of uploads."""
    reverse: Bottleneck | None = None
    """The reverse direction: ACKs of downloads, data of uploads. Left out: rate, delay and queue of the
    bottleneck, without its loss, changes and impairments. If the bottleneck has a trace or frames instead of
    a rate, only the bottleneck's delay is used."""
    access: Access = Access.model_construct()
    """Both access links of every flow: the sender's and the receiver's. A flow can override this setting."""

    @property
    def backward(self) -> Bottleneck:
        """The reverse direction, derived from the bottleneck unless the scenario has the key `reverse`."""
        there = self.bottleneck
        recorded = there.rate_bps is None and (there.trace is not None or there.frames is not None)
        kept = {"rate_bps", "delay_s"} if recorded else {"rate_bps", "delay_s", "queue"}
        return self.reverse or there.model_copy(update=dict.fromkeys(declared(Bottleneck).keys() - kept))


class GraphLink(LinkModel):
    """A link of a graph."""

    name: Name | None = None
    """Name of the link. Left out: "a-b" for a link from a to b."""
    source: Name = Field(alias="from", examples=["a"])
    """Node where the link begins."""
    target: Name = Field(alias="to", examples=["b"])
    """Node where the link ends."""
    duplex: Switch = False
    """Also create the opposite link, with a queue of its own; its name ends in "-reverse"."""
    reroutes: tuple[RerouteModel, ...] | None = Field(None, examples=['[{ at = "10 s", via = ["slow"] }]'])
    """Changes of the route between the two ends of this link at given times, in the order of time. A change
    moves all packets that would cross this link to the new route. Reroutes of links on the new route do not
    apply to these packets."""
    alternate: Alternation | None = Field(None, examples=['{ every = "3 s", via = [["slow"], []] }'])
    """Routes between the two ends of this link that alternate periodically."""

    @property
    def known_as(self) -> str:
        """The name of the link: the given name, or "a-b" for a link from a to b."""
        return self.name or f"{self.source}-{self.target}"


class Graph(Model):
    """Nodes and links. A flow takes the shortest path by delay, through the nodes and links in its `via`."""

    kind: Literal["graph"]
    nodes: Annotated[tuple[Name, ...], Field(min_length=2, max_length=100_000)] = Field(
        examples=['["a", "b"]']
    )
    """Names of the nodes."""
    links: Annotated[tuple[GraphLink, ...], Field(min_length=1, max_length=100_000)]
    """Links between the nodes, each in one direction unless `duplex`."""

    @cached_property
    def places(self) -> dict[str, None]:
        """Names that a route may contain, in order: every node, and every link in both directions."""
        links = [(link.known_as, link.duplex) for link in self.links]
        both = [n for name, duplex in links for n in ((name, f"{name}-reverse") if duplex else (name,))]
        return dict.fromkeys((*self.nodes, *both))

    @cached_property
    def known_nodes(self) -> frozenset[str]:
        """The names of the nodes, as a set."""
        return frozenset(self.nodes)

    @model_validator(mode="after")
    def _ends_exist(self) -> Self:
        known = self.known_nodes
        lines = [
            f"topology.links[{i}].{key}: unknown node {shown(node)}; there is {', '.join(self.nodes[:20])}"
            for i, link in enumerate(self.links)
            for key, node in (("from", link.source), ("to", link.target))
            if node not in known
        ]
        lines += [
            f"topology.links[{i}].to: {shown(link.target)} is where the link starts"
            for i, link in enumerate(self.links)
            if link.source == link.target
        ]
        if len(known) < len(self.nodes):
            lines.append("topology.nodes: a node is listed twice")
        if lines:
            raise ProblemsError(*lines)
        return self


Topology = Annotated[Dumbbell | Graph, Field(discriminator="kind")]


# Options of the ns3 engine. Other engines ignore these options.


class Ns3(Model):
    """Settings of ns-3's TCP stack that other engines lack. Engines other than ns3 ignore these settings."""

    algorithms: Literal["ns3", "ns3-only", "fullpipe"] = "ns3"
    """Implementation of the congestion control. "ns3": ns-3's algorithm, or fullpipe's if ns-3 lacks the
    algorithm. "ns3-only": ns-3's algorithm, otherwise an error. "fullpipe": always fullpipe's algorithm, on
    ns-3's stack."""
    recovery: Literal["prr", "classic"] = "prr"
    """Window reduction in recovery: proportional rate reduction ("prr"), or immediate ("classic"). BBR and
    fullpipe's algorithms ignore this setting."""
    sack: Switch = True
    """Selective acknowledgements."""
