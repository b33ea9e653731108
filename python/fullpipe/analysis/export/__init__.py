"""Runs in formats that other tools read. Nothing here runs an experiment.

`qlog` writes what a sender knew and decided as a qlog trace; `pcapng` writes captured packet headers for
Wireshark, tcptrace and the like; `flent` writes a file that Flent opens; `deliveries` writes what a link or a
cell delivered as a packet-delivery trace."""

from fullpipe.analysis.export.deliveries import deliveries
from fullpipe.analysis.export.flent import flent
from fullpipe.analysis.export.pcapng import pcapng
from fullpipe.analysis.export.qlog import qlog

__all__ = ["deliveries", "flent", "pcapng", "qlog"]
