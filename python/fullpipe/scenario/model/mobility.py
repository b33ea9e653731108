"""Nodes that move from one medium to another."""

from typing import Annotated

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.quantities import Seconds


class Move(Model):
    """From a time on, a node is attached to a medium, and all of its flows go by it.

    A node that moves has one medium at a time of those that it moves between: the cells in which it is a
    station, and the links that `mobility` names for it. Before its first entry it has all of them but the one
    it moves to. Other links of the node stay, so one that it leaves is named, too, as in at = "0 s". What is
    on the old medium by then arrives there, unless there is a `gap`.
    """

    at_s: Seconds = Field(alias="at", examples=["20 s"])
    node: Name = Field(examples=["handset"])
    to: Name = Field(examples=["mast-b"])
    """A cell in which the node is a station, or a link that begins or ends at it, in both directions."""
    gap_s: Annotated[Seconds, Field(gt=0)] | None = Field(None, alias="gap", examples=["50 ms"])
    """From one LTE or NR cell to another: how long the node neither sends nor receives. What waits on either
    side, and what still comes to the old cell, is handed over to the new one, in order: what comes by the new
    way waits until all of it has come. Left out: it arrives by the old one, without a gap."""
