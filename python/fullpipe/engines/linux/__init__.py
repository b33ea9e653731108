"""The Linux engine: from a scenario to a real kernel that runs as one process, and to tables.

A run uses the folders in one direction. `check` refuses scenarios that cannot be run exactly. `layout` turns
the scenario into namespaces, devices, qdiscs (`tc`) and routes. `script` writes them as a script for the
program in `guest/`, which runs in the kernel that `machine` boots. `tables` reads the measurements. `install`
gets the kernel and the program.
"""

from fullpipe.engines.linux.engine import LinuxEngine

__all__ = ["LinuxEngine"]
