"""The catalogue: the cases that the native engine is developed against, a file for every kind of regime."""

from __future__ import annotations

from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.catalogue import applications, bulk, disturbances, hosts, paths, queues

_FILES = (bulk, paths, applications, queues, disturbances, hosts)


def cases() -> list[Case]:
    """Every case, in the order of the page."""
    return [case for file in _FILES for family in file.FAMILIES for case in family()]
