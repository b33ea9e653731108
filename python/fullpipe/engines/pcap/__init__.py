"""Import of captured packets of real hosts as runs. This engine only reads files."""

from fullpipe.engines.pcap.capture import Capture, read
from fullpipe.engines.pcap.flow import Flow, flows_of
from fullpipe.engines.pcap.run import ENGINE, read_run

__all__ = ["ENGINE", "Capture", "Flow", "flows_of", "read", "read_run"]
