"""The Linux engine: it runs a scenario in a real kernel, which is one process, and returns tables.

A run uses these modules in order. `check` refuses scenarios that cannot be run exactly. `layout` turns the
scenario into namespaces, devices, qdiscs (`tc`) and routes. `script` writes the layout as a script for the
program in `guest/`. `boot` boots the kernel, which runs the program. `tables` reads the measurements.

`install` builds or downloads the kernel and the program.
"""

from fullpipe.engines.linux.engine import LinuxEngine

__all__ = ["LinuxEngine"]
