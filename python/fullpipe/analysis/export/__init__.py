"""Exports of runs to formats that other tools read.

`qlog` writes the state and the packets of senders as a qlog trace; `pcapng` writes captured packet headers
for Wireshark, tcptrace and similar tools; `flent` writes a file that Flent opens; `packetdrill` writes a flow
as a script for tests of a kernel; `deliveries` writes the deliveries of a link or cell as a packet-delivery
trace."""

from fullpipe.analysis.export.flent import flent
from fullpipe.analysis.export.packetdrill import packetdrill
from fullpipe.analysis.export.packets import deliveries, pcapng
from fullpipe.analysis.export.qlog import qlog

__all__ = ["deliveries", "flent", "packetdrill", "pcapng", "qlog"]
