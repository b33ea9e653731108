"""The list of readers: every reader is complete, and commands find the reader of a file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from fullpipe.engines.imported import Reader, read_run, reader_of
from fullpipe.errors import InputFileError
from fullpipe.runs.meta import READERS
from fullpipe.validation.compare.engines import CLOSEST_TO_THE_WORLD
from fullpipe.validation.fit.read import OF_READERS


@pytest.mark.parametrize("name", READERS)
def test_a_reader_has_every_member(name: str) -> None:
    found = import_module(f"fullpipe.engines.{name}")
    assert name == found.ENGINE
    members = {member for member in vars(Reader) if not member.startswith("_")}
    assert [member for member in members if not hasattr(found, member)] == []


def test_fit_reads_the_files_of_every_reader() -> None:
    assert OF_READERS.keys() == READERS.keys()


def test_measurements_are_the_first_choice_of_a_reference() -> None:
    assert (*READERS, "linux") == CLOSEST_TO_THE_WORLD


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\xd4\xc3\xb2\xa1", "pcap"),
        (b"\x0a\x0d\x0d\x0a", "pcap"),
        (b"\x1f\x8b\x08", "flent"),
        (b'{"metadata": {}', "flent"),
        (b"PING example.org", None),
    ],
)
def test_the_first_bytes_name_the_reader(head: bytes, name: str | None, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(head)
    found = reader_of(path)
    assert (found and found.ENGINE) == name
    assert reader_of(tmp_path / "nothing") is None


def test_a_file_of_no_known_format_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("PING example.org\n")
    with pytest.raises(InputFileError, match=r"^[^\n]+$"):
        read_run(path)
