"""Captured packets of real hosts, as runs. This engine reads files; it runs nothing."""

from fullpipe.engines.pcap.capture import Capture, read
from fullpipe.engines.pcap.flow import Flow, flows_of
from fullpipe.engines.pcap.run import ENGINE, read_run

__all__ = ["ENGINE", "Capture", "Flow", "flows_of", "read", "read_run"]
