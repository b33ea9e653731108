"""Hosts: what their kernels and network cards do for all of their flows."""

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.model.link import Rate
from fullpipe.scenario.model.link.queues import Queue


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
