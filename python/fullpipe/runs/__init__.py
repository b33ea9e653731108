"""Runs with their tables, stores of runs, and the jobs and threads that execute runs."""

from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe.runs.kept import PACKED
from fullpipe.runs.meta import EngineId, Meta, host, version, versions
from fullpipe.runs.run import Run
from fullpipe.runs.schema import SCHEMA_VERSION, TABLES, Column, Table, frame
from fullpipe.runs.store import Store

if TYPE_CHECKING:
    from fullpipe.runs.index import Index

__all__ = [
    "PACKED",
    "SCHEMA_VERSION",
    "TABLES",
    "Column",
    "EngineId",
    "Index",
    "Meta",
    "Run",
    "Store",
    "Table",
    "frame",
    "host",
    "version",
    "versions",
]

__getattr__, __dir__ = lazy.names(__name__, {"Index": "index"})
