"""Results: the tables of a run, the run itself, and the store that keeps it."""

from fullpipe.runs.meta import EngineId, Meta, host, version, versions
from fullpipe.runs.run import Run
from fullpipe.runs.schema import SCHEMA_VERSION, TABLES, Column, Table, frame
from fullpipe.runs.store import Store

__all__ = [
    "SCHEMA_VERSION",
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
