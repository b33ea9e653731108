"""The Linux engine.

A scenario becomes a script (`script`: lines of `topology`, `queueing` and `flows`; `layout` says where links
stand, `stages` of what `qdiscs`, `queues`, `filters` and `wires` they are made). A program of ours (`guest/`)
carries it out inside a kernel that runs as one process (`machine`, `supervisor`). What it writes down becomes
the tables of a run (`tables`, `links`, `marks`). `installation`, `trees`, `kernel`, `make`, `debian` and
`toolchain` get that kernel; `checks` and `link_checks` refuse what it cannot do.
"""

from fullpipe.engines.linux.engine import LinuxEngine

__all__ = ["LinuxEngine"]
