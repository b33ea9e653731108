"""Moves of nodes from one medium to another."""

from typing import Annotated

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.quantities import Seconds


class Move(Model):
    """A node attaches to a medium at a time; all of its flows then use that medium.

    The media of a moving node are the cells in which it is a station and the links that its moves name. The
    node uses one of them at a time. Before its first move, it uses all of them except the one it moves to.
    Other links of the node are unaffected. To make the node leave a link, name that link in an earlier move,
    for example one with at = "0 s". Packets already on the old medium arrive over it unless `gap` is set.
    """

    at_s: Seconds = Field(alias="at", examples=["20 s"])
    """Time of the move."""
    node: Name = Field(examples=["handset"])
    """The node that moves."""
    to: Name = Field(examples=["mast-b"])
    """A cell in which the node is a station, or a link that begins or ends at it, in both directions."""
    gap_s: Annotated[Seconds, Field(gt=0)] | None = Field(None, alias="gap", examples=["50 ms"])
    """Handover time between two LTE or NR cells, in which the node neither sends nor receives. Waiting
    packets of both directions, and packets that still reach the old cell, are forwarded to the new one.
    Packets on the new route wait for them, so that order is preserved. Left out: no gap; packets in the old
    cell arrive there."""
