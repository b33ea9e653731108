"""The Linux engine: from a scenario to a real kernel that runs as one process, and to tables.

A run goes through the folders in one direction. `check` refuses what cannot be done exactly. `layout` lays
the scenario out as namespaces, devices, qdiscs (`tc`) and routes. `script` writes that down for the program
in `guest/`, which carries it out inside the kernel that `machine` boots. `tables` reads what was measured.
`install` gets the kernel and the program.
"""

from fullpipe.engines.linux.engine import LinuxEngine

__all__ = ["LinuxEngine"]
