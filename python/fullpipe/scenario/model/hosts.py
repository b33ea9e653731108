"""Hosts: options of a kernel and a network card that apply to all flows of a host."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Model, Name, Switch, WithinError
from fullpipe.scenario.model.flows import Cca
from fullpipe.scenario.model.link import Rate
from fullpipe.scenario.model.link.queues import Queue
from fullpipe.scenario.quantities import Bytes


class Nic(Model):
    """The network interface of a host. Data and ACKs of all its flows leave through it."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["1 Gbit/s"])
    """Link rate of the interface. Left out: unlimited."""
    queue: Queue | None = Field(None, examples=['{ kind = "fq" }'])
    """Queue of outgoing packets. Left out: first in, first out, without a limit."""


class Host(Model):
    """A host with options: a node of a graph, or one that a flow of a dumbbell names in `hosts`."""

    name: Name = Field(examples=["laptop"])
    """Name of the host."""
    nic: Nic | None = Field(None, examples=['{ rate = "1 Gbit/s", queue = { kind = "fq" } }'])
    """Network interface that all flows of the host share. Left out: flows do not queue behind each other at
    the host."""
    terminated: Switch | None = Field(None, examples=[True])
    """Whether the host, a node of a graph, terminates TCP, as a proxy or a NAT in user space does. A flow
    through it is split into two connections: the described one, which ends here, and one from here to the
    receiver, which is named after both. Datagrams are forwarded."""
    proxy_buffer_bytes: Annotated[Bytes, Field(ge=9_000)] | None = Field(
        None, alias="proxy_buffer", examples=["256 KiB"]
    )
    """Buffer of a terminating host for each flow: payload received in order on the first connection and not
    yet acknowledged on the second. The free part is the advertised window. Left out: 256 KiB."""
    proxy_cca: Cca | None = Field(None, examples=["cubic"])
    """Congestion control of the connections that a terminating host opens. Left out: that of the flow."""

    @model_validator(mode="after")
    def _ends_tcp(self) -> Self:
        for key in ("proxy_buffer", "proxy_cca"):
            name = "proxy_buffer_bytes" if key == "proxy_buffer" else key
            if name in self.model_fields_set and not self.terminated:
                raise WithinError((key, "needs terminated = true"))
        return self
