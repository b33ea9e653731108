"""The network: a dumbbell, or any graph of nodes and links."""

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Model, Name, ProblemsError, Switch, WithinError
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.model.link import Access, LinkModel
from fullpipe.scenario.model.rerouting import Alternation, RerouteModel


class Bottleneck(LinkModel):
    """The link that all flows share, or the cell in its place."""

    cell: Name | None = Field(None, examples=["home"])
    """The cell that stands in place of the bottleneck, in both directions; then nothing else is given. Left
    out: it is a link."""

    @model_validator(mode="after")
    def _cell_or_link(self) -> Self:
        given = sorted(self.model_fields_set - {"cell"})
        if self.cell is not None and given:
            key = type(self).model_fields[given[0]].alias or given[0]
            raise WithinError(
                (key, "a cell stands in place of the link; leave it out, or write it in the cell")
            )
        return self


class Dumbbell(Model):
    """Senders and receivers on access links, and one bottleneck between them.

    Data passes the sender's access link, the bottleneck and the receiver's access link; ACKs come back over
    three more. The base RTT is 2 x (access + bottleneck + access) delays. A flow whose `direction` is
    "reverse" goes the other way: its data shares `reverse` with the ACKs of the others.

    With a cell in place of the bottleneck, the hosts of every flow are a station of the cell and one host on
    a wire behind the hub; `access` is that wire.
    """

    kind: Literal["dumbbell"]
    bottleneck: Bottleneck
    """The direction of the data, but for that of uploads."""
    reverse: Bottleneck | None = None
    """The direction of ACKs and uploads. Left out: rate, delay and queue of the bottleneck, nothing else; of
    one without a rate that follows a recording or sends in frames, the delay alone."""
    access: Access = Access.model_construct()
    """Both access links of every flow, which a flow may override."""

    @property
    def backward(self) -> Bottleneck:
        """The bottleneck as ACKs see it."""
        there = self.bottleneck
        recorded = there.rate_bps is None and (there.trace is not None or there.frames is not None)
        kept = {"rate_bps", "delay_s"} if recorded else {"rate_bps", "delay_s", "queue"}
        return self.reverse or there.model_copy(update=dict.fromkeys(declared(Bottleneck).keys() - kept))


class GraphLink(LinkModel):
    """A link of a graph."""

    name: Name | None = None
    """Left out: "a-b" from a to b."""
    source: Name = Field(alias="from", examples=["a"])
    target: Name = Field(alias="to", examples=["b"])
    duplex: Switch = False
    """Also the same link the other way round, with a queue of its own; its name ends in "-reverse"."""
    reroutes: tuple[RerouteModel, ...] | None = Field(None, examples=['[{ at = "10 s", via = ["slow"] }]'])
    """Other routes from one end to the other from given times on, in the order of time, for what would cross
    this link. What goes there is not moved again by the links on those routes."""
    alternate: Alternation | None = Field(None, examples=['{ every = "3 s", via = [["slow"], []] }'])
    """Such routes that take turns."""

    @property
    def known_as(self) -> str:
        """Its name, given or made."""
        return self.name or f"{self.source}-{self.target}"


class Graph(Model):
    """Nodes and links. Flows take the shortest path by delay, past the nodes that their `via` names."""

    kind: Literal["graph"]
    nodes: Annotated[tuple[Name, ...], Field(min_length=2, max_length=100_000)] = Field(
        examples=['["a", "b"]']
    )
    links: Annotated[tuple[GraphLink, ...], Field(min_length=1, max_length=100_000)]

    @cached_property
    def places(self) -> dict[str, None]:
        """What a route may lead past, in order: every node, and every link in both directions."""
        links = [(link.known_as, link.duplex) for link in self.links]
        both = [n for name, duplex in links for n in ((name, f"{name}-reverse") if duplex else (name,))]
        return dict.fromkeys((*self.nodes, *both))

    @cached_property
    def known_nodes(self) -> frozenset[str]:
        """The nodes, to look names up."""
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
