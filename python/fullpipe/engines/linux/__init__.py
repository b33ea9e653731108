"""The Linux engine.

A scenario becomes a script (`script`, from `layout`, `stages`, `qdiscs` and `wires`), which a program of ours
(`guest/`) carries out inside a kernel that runs as one process (`machine`, `supervisor`). What it writes down
becomes the tables of a run (`tables`, `links`, `marks`). `installation`, `kernel`, `debian` and `toolchain`
get that kernel.
"""

from fullpipe.engines.linux.engine import LinuxEngine

__all__ = ["LinuxEngine"]
