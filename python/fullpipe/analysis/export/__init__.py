"""Runs in formats that other tools read. Nothing here runs an experiment.

`qlog` writes what a sender knew and decided as a qlog trace; `pcapng` writes captured packet headers for
Wireshark, tcptrace and the like."""

from fullpipe.analysis.export.pcapng import pcapng
from fullpipe.analysis.export.qlog import qlog

__all__ = ["pcapng", "qlog"]
