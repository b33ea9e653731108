"""Results: the tables of a run, the run itself, and the store that keeps it."""

from fullpipe.results.meta import EngineId, Meta, host, version, versions
from fullpipe.results.run import Run
from fullpipe.results.schema import TABLES, Column, Table, frame
from fullpipe.results.store import Store

__all__ = [
    "TABLES",
    "Column",
    "EngineId",
    "Meta",
    "Run",
    "Store",
    "Table",
    "frame",
    "host",
    "version",
    "versions",
]
