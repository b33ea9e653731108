"""Files of the index that strangers wrote are refused before they take memory."""

import json
from pathlib import Path

import pytest

from fullpipe.runs import segments
from fullpipe.runs.segments import DamagedError, Segment


def crafted(folder: Path, content: bytes) -> Path:
    """A file whose name is the right checksum of its first line."""
    path = folder / segments._name(content.partition(b"\n")[0] + b"\n", segments.TABLES)
    path.write_bytes(content)
    return path


def claiming(folder: Path, size: int, offset: int) -> Path:
    """A file with five bytes of a table, and what it says of them."""
    line = json.dumps({"runs": {"bytes": size, "sha256": "0" * 64, "offset": offset}})
    return crafted(folder, f"{line}\n12345".encode())


def test_a_table_within_its_file_is_read(tmp_path: Path) -> None:
    assert Segment.read(claiming(tmp_path, 3, 2)).bytes_of("runs") == 3


@pytest.mark.parametrize(("size", "offset"), [(6, 0), (3, 3), (1 << 40, 0), ((1 << 62) - 1, (1 << 62) - 1)])
def test_a_table_that_ends_behind_its_file_is_refused(tmp_path: Path, size: int, offset: int) -> None:
    with pytest.raises(DamagedError):
        Segment.read(claiming(tmp_path, size, offset))


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b'{"runs": {}}', b'{"runs": {"bytes": -1, "sha256": ""}}', b"[" * 50_000]
)
def test_a_first_line_that_names_no_tables_is_refused(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(DamagedError):
        Segment.read(crafted(tmp_path, line + b"\n"))
