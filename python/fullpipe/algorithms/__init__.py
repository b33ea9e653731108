"""Algorithms of users, written in Python: subclass `Controller`, and pass the class as the `cca` of a
flow."""

from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe._native import Ack, Episode, LostPacket, Path, RateSample, Sent, Undo

if TYPE_CHECKING:
    from fullpipe.algorithms.classes import find, fingerprint, import_class, name
    from fullpipe.algorithms.controller import Controller, judge, round_trips

__all__ = [
    "Ack",
    "Controller",
    "Episode",
    "LostPacket",
    "Path",
    "RateSample",
    "Sent",
    "Undo",
    "find",
    "fingerprint",
    "import_class",
    "judge",
    "name",
    "round_trips",
]

# Imports are lazy, as a scenario without user-defined algorithms needs none of these modules.
__getattr__, __dir__ = lazy.names(
    __name__,
    {
        **dict.fromkeys(("find", "fingerprint", "import_class", "name"), "classes"),
        **dict.fromkeys(("judge", "round_trips"), "controller"),
        "Controller": "controller",
    },
)
