"""The ns3 engine: ns-3's hosts, sockets and queues, run by a program compiled against its wheel."""

from fullpipe.engines.ns3.engine import Ns3Engine, Ns3Engine339, Ns3Engine342, Ns3Engine343

__all__ = ["Ns3Engine", "Ns3Engine339", "Ns3Engine342", "Ns3Engine343"]
