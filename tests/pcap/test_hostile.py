"""Files of strangers: cut, with lengths that lie, of other kinds. Each is told in one line, soon, in little
memory."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullpipe.engines.pcap import read, read_run
from fullpipe.errors import FullpipeError, InputFileError
from tests.forks import Forks, forks
from tests.pcap.made import (
    ACK,
    CLIENT,
    OPTIONS,
    PORTS,
    SEQ,
    SYN,
    V6,
    Record,
    Tcp,
    acknowledged,
    block,
    ethernet,
    interface,
    ip4,
    ip6,
    many,
    packet,
    pcap,
    pcapng,
    record,
    repeated,
    sacks,
    section,
    stamps,
    swapped,
    written,
)

BACK = ("198.51.100.7", "192.0.2.1")
MEMORY_BYTES, FULL_MEMORY_BYTES, CPU_S = 500_000_000, 700_000_000, 60


def bulk(count: int = 40, **fields: int) -> list[Record]:
    """Data and their ACKs."""
    found = []
    for n in range(count):
        data = Tcp(1 + 1000 * n, 1, payload=1000, options=stamps(n, n))
        found.append(record(0.01 * n, ethernet(ip4(data, **fields)), 1000))
        ack = swapped(Tcp(1, 1001 + 1000 * n, options=stamps(n, n)))
        found.append(record(0.01 * n + 0.005, ethernet(ip4(ack, BACK))))
    return found


def test_the_flow_that_others_are_made_of_is_read(tmp_path: Path) -> None:
    assert read_run(written(tmp_path, pcap(bulk()))).flows["delivered_bytes"].to_list() == [40_000]


NOTHING = {
    "empty": (b"", "magic number"),
    "another kind of file": (b"PK\3\4" + b"\0" * 100, "magic number"),
    "only a magic number": (pcap([])[:4], "ends within its header"),
    "no packet": (pcap([]), "has no packet"),
    "no packet of pcapng": (section() + interface(), "has no packet"),
    "snap length 0": (pcap([Record(0, b"", 1500)] * 9), "were cut before the end of the TCP header"),
    "cut within IP": (pcap([Record(0, ethernet(ip4(Tcp(1)))[:30], 1500)]), "larger snap length"),
    "UDP": (pcap([record(0, ethernet(ip4(Tcp(1), protocol=17)))]), "1 are not TCP"),
    "no IP": (pcap([record(0, ethernet(b"\0" * 46, 0x0806))]), "1 are not IP"),
    "fragments": (pcap([record(0, ethernet(ip4(Tcp(1), fragment=0x2000)))]), "1 are fragments"),
    "another link type": (pcap([record(0, b"\0" * 90)], 147), "link types that are not read"),
    "lengths within IP that lie": (pcap([record(0, ethernet(ip4(Tcp(1), total=30)))]), "contradict"),
    "more in a packet of IPv4 than in its frame": (
        pcap([record(0, ethernet(ip4(Tcp(1, payload=900))))]),
        "contradict",
    ),
    "more in a packet of IPv6 than in its frame": (
        pcap([record(0, ethernet(ip6(Tcp(1, payload=900)), V6))]),
        "contradict",
    ),
    "a record of 4 GB": (
        pcap([]) + struct.pack("<IIII", 0, 0, 2**32 - 1, 1),
        "packet 1 has an impossible length",
    ),
    "a block of 4 GB": (section() + interface() + struct.pack("<II", 6, 2**32 - 4), "it is cut"),
    "a block of nothing": (
        section() + interface() + struct.pack("<III", 6, 0, 0),
        "an impossible length: 0 bytes",
    ),
    "an odd block": (section() + struct.pack("<III", 6, 13, 0), "an impossible length: 13 bytes"),
    "no byte order": (section()[:8] + b"\0" * 20, "no byte order"),
    "no interface": (
        section() + packet(record(0, b"\0" * 60)),
        "names an interface that the file does not describe",
    ),
    "an interface beyond": (
        section() + interface() + packet(Record(0, b"\0" * 60, 60, 9)),
        "names an interface that the file does not describe",
    ),
    "more in a packet than in its block": (
        section() + interface() + block(6, struct.pack("<5I", 0, 0, 0, 2_000, 2_000)),
        "has an impossible length: 2,000 bytes",
    ),
    "too many interfaces": (section() + interface() * 5_000, "more than 4,096 interfaces"),
    "packets without a time": (section() + interface() + block(3, b"\0\0\0\x3c" + b"\0" * 60), "no time"),
}


@pytest.mark.parametrize("name", list(NOTHING))
def test_a_file_without_tcp_is_told_in_one_line(tmp_path: Path, name: str) -> None:
    data, why = NOTHING[name]
    with pytest.raises(InputFileError) as caught:
        read(written(tmp_path, data))
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("made", [pcap, pcapng])
def test_what_is_cut_is_read_as_far_as_it_goes(tmp_path: Path, made: Callable[..., bytes]) -> None:
    data = made(bulk())
    run = read_run(written(tmp_path, data[:-20]))
    assert run.flows["delivered_bytes"].to_list() in ([40_000], [39_000])
    assert any("it is cut" in remark for remark in run.meta.remarks)


def test_a_connection_of_more_than_a_day_names_the_cut(tmp_path: Path) -> None:
    far = record(200_000, ethernet(ip4(Tcp(1, payload=9))), 9)
    with pytest.raises(InputFileError, match="span 200,000 s") as caught:
        read(written(tmp_path, pcap([*bulk(), far])))
    command = r'editcap -A "[-0-9]+ [:0-9]+" -B "[-0-9]+ [:0-9]+" made\.pcap part\.pcapng$'
    assert re.search(command, str(caught.value))


def test_connections_that_are_days_apart_are_read(tmp_path: Path) -> None:
    times_s = [0.1 + n / 1000 for n in range(50)]
    later = acknowledged(times_s, ends=(CLIENT, "192.0.2.3"))
    days = [Record(one.time_ns + 172_800 * 10**9, one.data, one.length) for one in later]
    made = read_run(written(tmp_path, pcap([*acknowledged(times_s), *days])))
    assert made.flows["delivered_bytes"].to_list() == [50_000, 50_000]
    assert made.flows["start_s"].to_list() == pytest.approx([0.0, 0.189 + 1.0], abs=1e-6)
    assert any("span more than a day" in remark for remark in made.meta.remarks)


def test_times_that_go_back_and_forth(tmp_path: Path) -> None:
    back = [Record((9 - n % 3 * 2) * 10**9 + n, one.data, one.length) for n, one in enumerate(bulk())]
    run = read_run(written(tmp_path, pcap(back)))
    assert any("the clock was set back" in remark for remark in run.meta.remarks)


def test_no_flow_is_long_enough(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="has ten segments or more; 1 directions"):
        read_run(written(tmp_path, pcap(bulk(4))))


def test_options_that_lie_about_their_length(tmp_path: Path) -> None:
    for options in (
        b"\x05\xff" + b"\0" * 10,
        b"\x08\x00" * 8,
        b"\x05\x01\x01\x01",
        b"\x01" * 40,
        b"\xff" * 40,
    ):
        made = [record(0.1 * n, ethernet(ip4(Tcp(n, options=options, payload=9))), 9) for n in range(12)]
        assert read(written(tmp_path, pcap(made))).segments == 12


def test_numbers_at_random(tmp_path: Path) -> None:
    """Neither an error that is not ours nor a number that cannot be."""
    dice = random.Random(7)
    for _ in range(15):
        made = []
        for n in range(200):
            numbers = [
                dice.choice([dice.getrandbits(32), dice.randrange(5_000), 2**32 - 1]) for _ in range(6)
            ]
            payload = dice.choice([0, 1, 1000, 1000, 65_000])
            options = dice.choice(
                [b"", stamps(*numbers[2:4]), sacks((numbers[2], numbers[3]), (numbers[4], numbers[5]))]
            )
            flags = dice.choice([ACK, ACK, ACK, 0, SYN, SYN | ACK, 4, 17, 255])
            segment = Tcp(numbers[0], numbers[1], flags, payload, dice.getrandbits(16), options)
            is_back = dice.random() < 0.5
            frame = ethernet(ip4(swapped(segment), BACK) if is_back else ip4(segment))
            made.append(record(max(0.01 * n + dice.uniform(-0.1, 0.1), 0), frame, payload))
        try:
            run = read_run(written(tmp_path, pcap(made)))
        except InputFileError:
            continue
        counts = run.flows["retransmitted_packets"].drop_nulls().to_list()
        assert all(count >= 0 for count in counts)
        lowest: Any = run.series["in_flight_bytes"].drop_nulls().min()
        assert lowest is None or lowest >= 0


def test_bytes_at_random(tmp_path: Path) -> None:
    dice, lines = random.Random(3), set[str]()
    for made in (pcap, pcapng):
        whole = made(bulk())
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(dice.randrange(1, 30)):
                data[dice.randrange(4, len(data))] = dice.randrange(256)
            try:
                read_run(written(tmp_path, bytes(data)))
            except FullpipeError as error:
                lines.update(str(error).splitlines()[1:])
    assert not lines


def overlapping(count: int) -> bytes:
    """Segments that all overlap, in as many ways as there are."""
    small = [record(0, ethernet(ip4(Tcp(n, payload=1))), 1) for n in range(count)]
    return pcap(small + [record(1, ethernet(ip4(Tcp(0, payload=60_000))), 60_000)] * count)


def reporting(count: int) -> bytes:
    """Selective acknowledgements of everything, again and again."""
    dice, rows = random.Random(1), np.arange(count)
    data = repeated(record(0, ethernet(ip4(Tcp(0, payload=9))), 9), 0 * rows, {SEQ: 9 * rows})
    left = np.array([dice.randrange(9 * count) for _ in range(count)])
    ack = swapped(Tcp(0, 0, options=sacks((0, 9 * count), (0, 0))))
    numbers = {OPTIONS + 4: left, OPTIONS + 16: left}
    acks = repeated(record(0, ethernet(ip4(ack, BACK))), 0 * rows + 1_000_000, numbers)
    return pcap([]) + data.tobytes() + acks.tobytes()


def reported_twice(count: int) -> bytes:
    """Everything sent twice, and a DSACK of each segment."""
    rows, twice = np.arange(count), np.arange(2 * count)
    data = record(0, ethernet(ip4(Tcp(1, 1, payload=1))), 1)
    ack = record(0, ethernet(ip4(swapped(Tcp(1, 1 + count, options=sacks((0, 0)))), BACK)))
    edges = {OPTIONS + 4: 1 + rows, OPTIONS + 8: 2 + rows}
    return (
        pcap([])
        + repeated(data, 1_000 * twice, {SEQ: 1 + twice % count}).tobytes()
        + repeated(ack, 2_000 * count + 10 * rows, edges).tobytes()
    )


def opening(count: int) -> bytes:
    """As many connections as packets."""
    rows = np.arange(count)
    syn = record(0, ethernet(ip4(Tcp(0, flags=SYN))))
    ports = rows % 65_536 << 16 | 1 + rows // 65_536
    return pcap([]) + repeated(syn, 0 * rows, {PORTS: ports, SEQ: rows}).tobytes() + pcap(bulk())[24:]


LARGE = {
    "empty records": (lambda: pcap([Record(0, b"", 1)]) + struct.pack("<IIII", 0, 0, 0, 0) * 2_000_000),
    "overlapping segments": lambda: overlapping(20_000),
    "selective acknowledgements": lambda: reporting(60_000),
    "duplicates": lambda: reported_twice(130_000),
    "connections": lambda: opening(150_000),
    "interfaces": lambda: section() + interface() * 4_000 + pcapng(bulk())[28:],
}
_CHILD = """
import sys
from pathlib import Path
from fullpipe.engines.pcap import read_run
from fullpipe.errors import FullpipeError
try:
    run = read_run(Path(sys.argv[1]))
    print(run.flows.height, run.meta.remarks[0])
except FullpipeError as error:
    print(error)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(int(status["VmHWM"].split()[0]) * 1024)
"""
"""Its most memory is its own: `ru_maxrss` begins with its parent's."""


@pytest.fixture(scope="module")
def reader() -> Iterator[Forks]:
    """A process that reads files in forks."""
    with forks("fullpipe.engines.pcap") as process:
        yield process


def read_apart(reader: Forks, path: Path) -> tuple[str, int]:
    """What a process of its own says of a file, and the most memory that it takes."""
    done = reader(_CHILD, path.parent, path, cpu_s=CPU_S)
    assert done.status == 0, done.stderr[-2000:]
    said, _, peak_bytes = done.stdout.rstrip().rpartition("\n")
    return said, int(peak_bytes)


@pytest.mark.parametrize("name", list(LARGE))
def test_a_large_file_takes_little_memory_and_time(reader: Forks, tmp_path: Path, name: str) -> None:
    said, peak_bytes = read_apart(reader, written(tmp_path, LARGE[name]()))
    assert peak_bytes < MEMORY_BYTES, said


@pytest.mark.parametrize(
    ("count", "size", "is_acked", "is_followed"),
    [(1_000_000, 30_000, False, False), (570_000, 6_000, True, True)],
    ids=["more than is followed", "as much as is followed"],
)
def test_as_many_segments_as_are_read_take_as_much_memory_as_is_said(
    reader: Forks, tmp_path: Path, count: int, size: int, is_acked: bool, is_followed: bool
) -> None:
    path = written(tmp_path, many(count, size, 1_000, is_acked=is_acked))
    said, peak_bytes = read_apart(reader, path)
    assert ("overlap in too many ways" in said) != is_followed
    assert peak_bytes < FULL_MEMORY_BYTES
