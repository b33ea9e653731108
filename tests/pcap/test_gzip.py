"""Captures as gzip: read like the same files unpacked, in as little memory, and as far as they are whole."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import files
from fullpipe.engines.pcap import pieces, read, read_run
from fullpipe.engines.pcap.pieces import PIECE, Pieces, source_of
from fullpipe.errors import InputFileError
from tests.pcap.made import Record, acknowledged, download, pcap, pcapng

Cli = Callable[..., Any]
TALK = acknowledged(0.1 + n / 100 for n in range(40))


def packed(folder: Path, data: bytes, name: str = "made.pcap.gz") -> Path:
    """A file with these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("made", [pcap, pcapng])
def test_a_gzip_file_is_the_capture_in_it(tmp_path: Path, made: Callable[..., bytes]) -> None:
    plain = read_run(packed(tmp_path, made(TALK), "made.pcap"))
    same = read_run(packed(tmp_path, gzip.compress(made(TALK))))
    assert same.flows.equals(plain.flows)
    assert (same.name, same.meta.engine, same.meta.digest) == (
        plain.name,
        plain.meta.engine,
        plain.meta.digest,
    )


def test_members_follow_each_other_and_padding_does_not_matter(tmp_path: Path) -> None:
    data = pcap(TALK)
    members = [gzip.compress(data[:500]), gzip.compress(b""), gzip.compress(data[500:]), bytes(512)]
    capture = read(packed(tmp_path, b"".join(members)))
    assert (capture.segments, capture.damage) == (len(TALK), "")


def test_records_that_are_skipped_in_pieces(tmp_path: Path) -> None:
    frame = TALK[-1].data + bytes(3 * PIECE)
    whole = [*TALK, Record(10**9, frame, len(frame))]
    path = packed(tmp_path, gzip.compress(pcap(whole), 1))
    assert read(path).packets == len(whole)
    data = gzip.decompress(path.read_bytes())
    cut = read(packed(tmp_path, gzip.compress(data[:-PIECE], 1)))
    assert (cut.packets, cut.damage) == (len(whole), f"it is cut within packet {len(whole)}")


@pytest.mark.parametrize(
    ("change", "damage"),
    [
        (lambda data: data[:-30], "its gzip data are cut"),
        (lambda data: data[:-8], "its gzip data are cut"),
        (lambda data: data + b"\x1f\x8bmore of it", "its gzip data are damaged"),
    ],
    ids=["cut within data", "cut behind data", "a member that is none"],
)
def test_what_is_whole_is_read(tmp_path: Path, change: Callable[[bytes], bytes], damage: str) -> None:
    stored = gzip.compress(pcap(TALK), 0)
    made = read_run(packed(tmp_path, change(stored)))
    assert made.flows["delivered_bytes"][0] >= 39_000
    assert f"not all of the file could be read: {damage}" in made.meta.remarks


def test_no_more_is_unpacked_than_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MOST_UNPACKED_BYTES", 5 * PIECE)
    path = packed(tmp_path, gzip.compress(bytes(8 * PIECE)))
    with files.open_regular(path) as file:
        source = source_of(file)
        assert source.skip(8 * PIECE) == 5 * PIECE
        assert source.read(1) == b""
    assert source.damage.startswith("it unpacks to more than 0.02")


def test_a_bomb_takes_the_memory_of_a_window(tmp_path: Path) -> None:
    path = packed(tmp_path, gzip.compress(bytes(12 * PIECE)))
    with files.open_regular(path) as file:
        window = Pieces(file)
        tracemalloc.start()
        place = 0
        while window.move(place):
            place += len(window.data)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert place == 12 * PIECE
    assert peak_bytes < 5 * PIECE


def test_members_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_MOST_MEMBERS", 100)
    path = packed(tmp_path, gzip.compress(pcap(TALK)) + gzip.compress(b"") * 200)
    assert read(path).damage == "it has more than 100 gzip members; only the first members are read"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(b"no capture"), "its magic number is 6e6f2063"),
        (gzip.compress(b""), "its magic number is "),
        (gzip.compress(pcap(TALK))[:12], "its gzip data are cut"),
        (gzip.compress(pcap(TALK))[:-8] + bytes(8), "its gzip data are damaged"),
        (gzip.compress(pcap([])[:10]), "ends within its header"),
    ],
    ids=["something else", "nothing", "cut", "another checksum", "a part of its header"],
)
def test_a_gzip_file_without_a_capture_is_told_in_one_line(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(InputFileError, match=why) as caught:
        read(packed(tmp_path, data))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["import", "twin", "fit"])
@pytest.mark.parametrize("made", [pcap, pcapng])
def test_commands_read_gzip(fullpipe: Cli, tmp_path: Path, command: str, made: Callable[..., bytes]) -> None:
    path = packed(tmp_path, gzip.compress(made(download(4e6, 1.5)), 1), "line.pcapng.gz")
    done = fullpipe(command, path)
    assert done.exit_code == 0, done.output
