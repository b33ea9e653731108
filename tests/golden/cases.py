"""The scenarios whose results are kept in golden.json: one or more for everything that a scenario can say.

Algorithms and queues come from their registries, with every switch and choice that they have. What else a
scenario can say is written out; `test_golden.py` fails for whatever has no case.
"""

from itertools import chain
from typing import Any

from tests.golden import algorithms, cellular, early, links, networks, queues, transports, wifi, workloads

_PARTS = (early, algorithms, queues, links, transports, workloads, networks, wifi, cellular)


def cases() -> dict[str, dict[str, Any]]:
    """Every case by name."""
    found = chain.from_iterable(part.cases() for part in _PARTS)
    return {name: {"name": "golden", **tree} for name, tree in found}
