"""The part of meta.json on tables: position, size and checksum of each, and meta.json's own checksum."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import BaseModel, Field

from fullpipe.runs.encoding import checksum
from fullpipe.runs.schema import DTYPES, TABLES

META = "meta.json"
PACKED = "tables.arrow"
"""File with the small tables one after the other, each a stream of Arrow IPC."""
_Size = Annotated[int, Field(ge=0, lt=1 << 62)]
_Name = Annotated[str, Field(pattern=r"^\w+$")]


@dataclass(frozen=True, slots=True)
class Sum:
    """Size, checksum and position of a table."""

    bytes: _Size
    sha256: str
    offset: _Size | None = None
    """Offset in the file of small tables; null if the table is a Parquet file of its own."""


class Sums(BaseModel):
    """The members of meta.json besides `Meta`. All are empty in runs of older versions."""

    columns: str = ""
    """Fingerprint of the names and types of all columns; empty if they were not those of the schema."""
    tables: dict[_Name, Sum] = {}
    """Size and SHA-256 of every table with rows. A run with other bytes is never read, but executed again. A
    table that is not listed is empty, or unknown to the version that wrote the run."""
    sha256: str = ""
    """SHA-256 of all lines above this one."""

    def files(self) -> dict[str, int]:
        """Return the files of tables with their sizes."""
        packed = [table.offset + table.bytes for table in self.tables.values() if table.offset is not None]
        alone = {own_file(name): table.bytes for name, table in self.tables.items() if table.offset is None}
        return alone | ({PACKED: max(packed)} if packed else {})


def own_file(name: str) -> str:
    """Return the file of a table that has its own."""
    return f"{name}.parquet"


def file_of(name: str, known: Sum | None) -> str:
    """Return the file that contains a table."""
    return PACKED if known and known.offset is not None else own_file(name)


def sealed(text: bytes) -> tuple[bytes, str]:
    """Return the content of meta.json, which is the text followed by its checksum, and the checksum."""
    seal = checksum(text)
    return text + f'  "sha256": "{seal}"\n}}\n'.encode(), seal


_SEAL_BYTES = len(sealed(b"")[0])


def is_sealed(data: bytes) -> bool:
    """Whether the content of meta.json matches its checksum."""
    return data == sealed(data[:-_SEAL_BYTES])[0]


@cache
def columns_today() -> str:
    """Return a fingerprint of the names and types of all columns of the current schema."""
    columns = {name: {c.name: DTYPES[c.kind] for c in table.columns} for name, table in TABLES.items()}
    return checksum(json.dumps(columns).encode())[:16]
