"""What meta.json says of the tables of a run: where each is, how long, and its checksum; and its own seal."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import BaseModel, Field

from fullpipe.runs.encoding import checksum
from fullpipe.runs.schema import DTYPES, TABLES

META = "meta.json"
PACKED = "tables.arrow"
"""The small tables, one behind the other, each a stream of Arrow IPC."""
_Size = Annotated[int, Field(ge=0, lt=1 << 62)]
_Name = Annotated[str, Field(pattern=r"^\w+$")]


@dataclass(frozen=True, slots=True)
class Sum:
    """What the content of a table is known by, and where it is."""

    bytes: _Size
    sha256: str
    offset: _Size | None = None
    """Where it begins in the file of small tables; null if it is a Parquet file of its own."""


class Sums(BaseModel):
    """What meta.json says besides `Meta`; nothing of it if an older version wrote the run."""

    columns: str = ""
    """A fingerprint of the names and types of all columns; empty if they were not those of the schema."""
    tables: dict[_Name, Sum] = {}
    """Size and SHA-256 of every table with rows. A run whose bytes are others is made again, and never read.
    A table that is not here is an empty one, or one that the version that wrote the run did not have."""
    sha256: str = ""
    """SHA-256 of all lines above this one."""

    def files(self) -> dict[str, int]:
        """The files of tables, and how long each is."""
        packed = [table.offset + table.bytes for table in self.tables.values() if table.offset is not None]
        alone = {own_file(name): table.bytes for name, table in self.tables.items() if table.offset is None}
        return alone | ({PACKED: max(packed)} if packed else {})


def own_file(name: str) -> str:
    """The file of a table that has one of its own."""
    return f"{name}.parquet"


def file_of(name: str, known: Sum | None) -> str:
    """The file that a table is in, by what is known of it."""
    return PACKED if known and known.offset is not None else own_file(name)


def sealed(text: bytes) -> tuple[bytes, str]:
    """The content of meta.json, the text and as its last member the checksum of the text; and that."""
    seal = checksum(text)
    return text + f'  "sha256": "{seal}"\n}}\n'.encode(), seal


_SEAL_BYTES = len(sealed(b"")[0])


def is_sealed(data: bytes) -> bool:
    """Whether meta.json is what was written."""
    return data == sealed(data[:-_SEAL_BYTES])[0]


@cache
def columns_today() -> str:
    """A fingerprint of the names and types of all columns."""
    columns = {name: {c.name: DTYPES[c.kind] for c in table.columns} for name, table in TABLES.items()}
    return checksum(json.dumps(columns).encode())[:16]
