"""Your own algorithms in Python: subclass `Controller`, and use the class as the `cca` of a flow."""

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

# Lazy: a scenario without own algorithms needs neither their base class nor the kit.
__getattr__, __dir__ = lazy.names(
    __name__,
    {
        **dict.fromkeys(("find", "fingerprint", "import_class", "name"), "classes"),
        **dict.fromkeys(("judge", "round_trips"), "controller"),
        "Controller": "controller",
    },
)
