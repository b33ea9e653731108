"""The ns3 engine: ns-3's hosts, sockets and queues, in a program compiled against ns-3's wheel."""

from fullpipe.engines.ns3.engine import Ns3Engine, Ns3Engine339, Ns3Engine342, Ns3Engine343

__all__ = ["Ns3Engine", "Ns3Engine339", "Ns3Engine342", "Ns3Engine343"]
