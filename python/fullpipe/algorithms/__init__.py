"""Algorithms of your own, written in Python: subclass `Controller` and name it as the `cca` of a flow."""

from fullpipe._native import Ack, Episode, LostPacket, Path, RateSample, Sent, Undo
from fullpipe.algorithms.classes import find, fingerprint, import_class, name
from fullpipe.algorithms.controller import Controller
from fullpipe.algorithms.kit import judge, round_trips

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
