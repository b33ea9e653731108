"""Logs that are broken, foreign or hostile: one clear line each."""

import gzip
import json
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe.errors import InputFileError
from fullpipe.validation.fit import fit
from fullpipe.validation.fit.read import read

Cli = Callable[..., Any]
PINGS = "PING x\n" + "".join(
    f"[{1.7e9 + n / 5:.3f}] 64 bytes from x: icmp_seq={n} ttl=57 time=20.{n % 7} ms\n" for n in range(100)
)
CSV = "t,down\n" + "".join(f"{1.7e9 + 5 + n / 10:.1f},{20_000_000 + n % 3}\n" for n in range(100))


def iperf3(**changed: Any) -> str:
    intervals = [{"sum": {"end": n + 1, "seconds": 1, "bits_per_second": 2e7}} for n in range(9)]
    start = {"timestamp": {"timesecs": 1_700_000_005}, "test_start": {"protocol": "TCP", "reverse": 1}}
    return json.dumps({"start": start, "intervals": intervals, "end": {}, **changed})


IPERF_TEXT = """Connecting to host 192.0.2.1, port 5201
[  5] local 192.0.2.2 port 43210 connected to 192.0.2.1 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  2.38 MBytes  19.9 Mbits/sec    0    141 KBytes
"""

BROKEN = [
    ("", "is empty"),
    ("PING x\nRequest timeout for icmp_seq 0\n", "no line is a reply as ping prints it"),
    ("PING x\n64 bytes from x: icmp_seq=0 ttl=1 time=0 ms\n", "ms is not a valid RTT"),
    ("PING x\n64 bytes from x: icmp_seq=0 ttl=1 time=999999999 ms\n", "ms is not a valid RTT"),
    ("hello\nworld\n", "is no header; write t,bit/s or names"),
    ("t,sideways,up\n1,2,3\n", "is no direction"),
    ("t,up,upload\n1,2,3\n", "names one direction twice"),
    ("t,down\n1,2\n1,3\n2,3\n", "line 3: its time is not after"),
    ("t,down\n1,2\n2,\n", "line 3: "),
    ("t,down\n1,2\n2,nan\n", "line 3: "),
    ("t,down\n1,2\n2,-5\n", "line 3: "),
    ("t,down\n1,2\n2,1e300\n", "has a time or rate out of range"),
    ("t,down\n1,2\n", "has 1 samples"),
    ("t,down\n1,0\n2,0\n", "nothing was delivered"),
    ("{", "is not JSON"),
    ("[" * 100_000, "is not JSON as iperf3 --json prints it"),
    ("[1,2]", "is a list in JSON, and not what iperf3 --json prints"),
    ("{}", "start: is missing"),
    (iperf3(error="unable to connect to server", intervals=[]), "iperf3 failed: "),
    (iperf3(intervals=[]), "intervals: has fewer than two"),
    (iperf3(intervals=[{}, {}]), "intervals[0].sum: should be a table"),
    (iperf3(intervals=[{"sum": {"end": "x"}}] * 3), "is missing or out of range"),
    (iperf3(start={"test_start": {"protocol": "UDP"}}), "sends at a fixed rate"),
    (
        iperf3(intervals=[{"sum": {"end": 1, "seconds": 1, "bits_per_second": 0}}] * 3),
        "fewer than two delivered",
    ),
    ("a\0b", "is not a text file"),
]
FOREIGN = [
    (IPERF_TEXT, "is the text that iperf prints; run iperf3 --json"),
    ('{"version": {"irtt": "0.9.1"}, "stats": {}, "round_trips": []}', "is of irtt"),
    ("[192.0.2.1:2112] [ConnectOK]\nseq=0 rtt=20.1ms rd=10.1ms sd=10.0ms ipdv=n/a\n", "is of irtt"),
    ("ESTAB 0 0 192.0.2.1:22\n\t cubic wscale:7,7 rto:204 rtt:3.2/1.1 cwnd:10\n", "is of ss"),
    ("Reply from 192.0.2.1: bytes=32 time=23ms TTL=57\n", "is of Windows' ping"),
    ("Antwort von 192.0.2.1: Bytes=32 Zeit<1ms TTL=57\n", "is of Windows' ping"),
]


@pytest.mark.parametrize(
    ("text", "message"), [*BROKEN, *FOREIGN], ids=[message for _, message in [*BROKEN, *FOREIGN]]
)
def test_a_broken_log_is_told_in_one_line(fullpipe: Cli, text: str, message: str) -> None:
    Path("bad.log").write_text(text)
    Path("ping.txt").write_text(PINGS)
    done = fullpipe("fit", "ping.txt", "bad.log")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
    assert message in done.stderr
    assert "bad.log" in done.stderr


@pytest.mark.parametrize("text", ["a\0b", *(text for text, _ in FOREIGN)])
def test_a_refused_log_says_which_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.log").write_text(text)
    with pytest.raises(InputFileError, match=r"or --json-stream, \.flent\.gz and captures are read"):
        read([tmp_path / "bad.log"])


def test_a_log_that_powershell_wrote_is_read(tmp_path: Path) -> None:
    (tmp_path / "p").write_text(PINGS, encoding="utf-16")
    (tmp_path / "i").write_text(iperf3(), encoding="utf-16")
    assert read([tmp_path / "p", tmp_path / "i"]).pings.rtts_s.size == 100


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((PINGS,), "no file has rates"),
        ((CSV,), "no file has pings"),
        ((PINGS, CSV, CSV + "1800000000,1\n"), "another file has rates down, too"),
        ((PINGS, CSV, gzip.compress(b"{}")), "has RTTs and rates; give this file alone"),
        ((gzip.compress(b"{}"),), "metadata: is missing"),
        ((gzip.compress(b"{}")[:15],), "is cut short"),
    ],
)
def test_what_does_not_go_together_is_told(
    fullpipe: Cli, texts: tuple[str | bytes, ...], message: str
) -> None:
    names = [f"{n}.log" for n in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    done = fullpipe("fit", *names)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
    assert message in done.stderr


def test_a_missing_file_and_a_folder_are_told(fullpipe: Cli, tmp_path: Path) -> None:
    for name in ("nothing.txt", str(tmp_path)):
        done = fullpipe("fit", name)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    with file.open("wb") as out:
        out.truncate(64_000_001)
    with pytest.raises(InputFileError, match="more than 64 MB"):
        read([file])


def test_a_file_of_many_lines_is_refused_before_they_are_apart(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("1,2\n" * 2_000_001)
    with pytest.raises(InputFileError, match="has more than 2,000,000 lines"):
        read([file])


def test_what_surrounds_replies_does_not_matter(tmp_path: Path) -> None:
    noise = "\ufeffPING x\nno answer yet for icmp_seq=3\n" + "64 bytes from x: icmp_seq=1 ttl=5\n" * 3
    (tmp_path / "p").write_text(noise + PINGS + PINGS.splitlines()[5] + " (DUP!)\n\x1b[31mend")
    (tmp_path / "c").write_text(CSV)
    (tmp_path / "i").write_text(iperf3())
    assert read([tmp_path / "p", tmp_path / "c"]).pings.rtts_s.size == 100
    found = read([tmp_path / "i", tmp_path / "p"])
    assert found.one_clock
    assert found.rates["down"].begin_s == 1_700_000_005


def test_sequence_numbers_begin_anew_after_16_bits(tmp_path: Path) -> None:
    numbers = [n % 65_536 for n in range(65_530, 65_542) if n != 65_537]
    replies = [f"64 bytes from x: icmp_seq={n} ttl=57 time=20 ms" for n in numbers]
    (tmp_path / "p").write_text("\n".join(["PING x", *replies]))
    (tmp_path / "c").write_text(CSV)
    found = read([tmp_path / "p", tmp_path / "c"])
    assert found.pings.lost == 1
    assert not found.one_clock


def test_pings_without_a_reply_are_told(fullpipe: Cli) -> None:
    replies = PINGS.splitlines(keepends=True)
    Path("c.csv").write_text(CSV)
    for kept, is_told in ((replies, False), ([*replies[:40], *replies[43:]], True)):
        Path("p.txt").write_text("".join(kept))
        told = json.loads(fullpipe("fit", "p.txt", "c.csv", "--json").stdout)["unknown"]
        assert any("loss: 3 of 100 pings had no reply" in line for line in told) == is_told


@pytest.mark.parametrize(("mss", "is_taken"), [(1, False), (535, False), (536, True), (65_483, False)])
def test_a_size_of_segments_that_no_path_has_counts_as_not_said(
    tmp_path: Path, mss: int, is_taken: bool
) -> None:
    start = {"timestamp": {"timesecs": 1_700_000_005}, "test_start": {"reverse": 1}, "tcp_mss_default": mss}
    (tmp_path / "p").write_text(PINGS)
    (tmp_path / "i").write_text(iperf3(start=start))
    found = read([tmp_path / "p", tmp_path / "i"])
    assert found.rates["down"].mss == (mss if is_taken else None)
    assert fit(found).ways["down"].rate_bps < 2.3e7


def changed(text: str, chance: random.Random) -> str:
    """The text with some characters changed, doubled or left out."""
    found = list(text)
    for _ in range(chance.choice((1, 2, 8))):
        at = chance.randrange(len(found))
        found[at : at + 1] = chance.choice(
            ("", "9", "-", "e", ",", ".", "\n", found[at] * 2, "".join(found[at : at + 80]))
        )
    return "".join(found)


def test_logs_that_are_changed_somewhere_are_read_or_told(
    tmp_path: Path, cases: Callable[[int], int]
) -> None:
    chance, told = random.Random(5), list[str]()
    ping, rates = tmp_path / "p", tmp_path / "r"
    number = max(cases(2_000), 100)
    for _ in range(number):
        ping.write_text(changed(PINGS, chance))
        rates.write_text(changed(chance.choice((CSV, iperf3())), chance))
        try:
            fit(read([ping, rates]))
        except InputFileError as error:
            told.append(str(error))
    assert 0 < len(told) < number
    assert not [message for message in told if "\n" in message]


def test_a_name_in_a_file_stays_within_its_comment(fullpipe: Cli) -> None:
    Path("ping.txt").write_text(PINGS)
    name = 'x\nduration = "9 s"\n\x1b[31m'
    Path("test.json").write_text(iperf3(end={"sender_tcp_congestion": name}))
    done = fullpipe("fit", "ping.txt", "test.json", "--out", "line.toml")
    assert done.exit_code == 0, done.output
    made = Path("line.toml").read_text()
    assert r'x\nduration = "9 s"\n\x1b[31m may keep' in made
    assert tomllib.loads(made)["duration"] == "30 s"
