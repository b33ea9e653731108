"""Hosts: what their kernels and network cards do for all of their flows."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Model, Name, Switch, WithinError
from fullpipe.scenario.model.flows import Cca
from fullpipe.scenario.model.link import Rate
from fullpipe.scenario.model.link.queues import Queue
from fullpipe.scenario.quantities import Bytes


class Nic(Model):
    """A network interface, by which all that its host sends leaves: data and ACKs of every flow."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["1 Gbit/s"])
    """Left out: unlimited."""
    queue: Queue | None = Field(None, examples=['{ kind = "fq" }'])
    """Left out: never full."""


class Host(Model):
    """A host with options: a node of a graph, or one that a flow of a dumbbell names in `hosts`."""

    name: Name = Field(examples=["laptop"])
    nic: Nic | None = Field(None, examples=['{ rate = "1 Gbit/s", queue = { kind = "fq" } }'])
    """Left out: every flow leaves the host by itself, and none waits there for another."""
    terminated: Switch | None = Field(None, examples=[True])
    """In a graph, true: it ends TCP, as a proxy does or a NAT in user space. Every stream whose data passes
    it is two connections back to back: the one that is described, which ends here, and one from here, which
    has the name of both. Datagrams pass."""
    proxy_buffer_bytes: Annotated[Bytes, Field(ge=9_000)] | None = Field(
        None, alias="proxy_buffer", examples=["256 KiB"]
    )
    """Of a host that ends TCP: payload that it holds between two connections, from what has come in order to
    what is acknowledged to it. What is left is the window that it advertises. Left out: 256 KiB."""
    proxy_cca: Cca | None = Field(None, examples=["cubic"])
    """Of a host that ends TCP: the algorithm of the connections from it. Left out: that of the flow."""

    @model_validator(mode="after")
    def _ends_tcp(self) -> Self:
        for key in ("proxy_buffer", "proxy_cca"):
            name = "proxy_buffer_bytes" if key == "proxy_buffer" else key
            if name in self.model_fields_set and not self.terminated:
                raise WithinError((key, "is of a host that ends TCP; say terminated = true, too"))
        return self
