"""Algorithms, queues and other entries of the registry that a kernel supports, and remedies for others."""

from fullpipe.engines.base import Capabilities, not_measured
from fullpipe.engines.lacks import NATIVE
from fullpipe.engines.linux.install import algorithms
from fullpipe.engines.linux.install.installed import INSTALL, PERIODIC, Installed
from fullpipe.engines.linux.tc import queues

LOSSES = frozenset({"bernoulli", "gilbert_elliott"})
"""Losses that netem supports."""
_NEWER = frozenset({*queues.MAKERS, PERIODIC})
"""Features of newer kernels and newer installations. Periodic loss is a filter."""


def capabilities(installed: Installed) -> Capabilities:
    """Return the guest's capabilities with a kernel."""
    from fullpipe.engines.linux.tables import tables  # here, since listing engines does not need it

    return Capabilities(
        ccas=frozenset(ours for ours in algorithms.OURS if algorithms.in_kernel(ours, installed.ccas)),
        queues=frozenset(("drop_tail", *(kind for kind in queues.MAKERS if kind in installed.qdiscs))),
        losses=LOSSES | ({PERIODIC} if PERIODIC in installed.qdiscs else set()),
        impairments=frozenset({"jitter", "duplicate"}),
        workloads=frozenset({"bulk", "cbr", "on_off", "udp", "voip", "ping", "probe"}),
        not_measured=not_measured(tables.MEASURED),
    )


def remedy(family: str, name: str) -> str:
    """Return the remedy for something that a kernel lacks."""
    if family == "ccas" and name in algorithms.OURS:
        return "build a kernel that has it: fullpipe engines install linux --source DIR"
    return f"build the newest: {INSTALL}" if name in _NEWER else NATIVE
