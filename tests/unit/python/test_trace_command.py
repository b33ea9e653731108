"""`fullpipe trace`: what a recording is like, and one kind of file from the other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe.scenario.traces import read_mahimahi

Cli = Callable[..., Any]


@pytest.fixture
def files(fullpipe: Cli) -> Cli:
    """The command line in a folder with recordings."""
    Path("cell.up").write_text("1\n1\n3\n10\n", encoding="utf-8")
    Path("cell.csv").write_text("time_s,rate_bps\n0,12032000\n1,0\n2,\n3,\n", encoding="utf-8")
    return fullpipe


def test_info_says_what_a_packet_trace_carries(files: Cli) -> None:
    assert files("trace", "info", "cell.up").stdout == (
        "4 opportunities in 0.01 s\nmean rate 4.813 Mbit/s, longest gap 7 ms\n"
    )


def test_info_says_what_a_csv_holds(files: Cli) -> None:
    assert files("trace", "info", "cell.csv").stdout == (
        "4 rows, the last at 3 s\nrate_bps: 0 to 1.2032e+07\n"
    )


def test_info_speaks_to_programs_in_base_units(files: Cli) -> None:
    found = json.loads(files("trace", "info", "cell.up", "--json").stdout)
    assert (found["opportunities"], found["longest_gap_s"]) == (4, 0.007)
    found = json.loads(files("trace", "info", "cell.csv", "--json").stdout)
    assert found == {"rows": 4, "duration_s": 3.0, "rate_bps": [0, 12_032_000]}


def test_rates_become_a_packet_trace_and_back(files: Cli) -> None:
    assert files("trace", "convert", "cell.csv", "made.up").exit_code == 0
    assert read_mahimahi("made.up").times_ms.tolist() == list(range(1, 1001))
    assert files("trace", "convert", "made.up", "made.csv", "--interval", "500 ms").exit_code == 0
    assert Path("made.csv").read_text(encoding="utf-8").splitlines() == [
        "time_s,rate_bps", "0.0,12032000", "0.5,12032000", "1.0,12032000"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "missing.up"), "missing.up: no such file"),
        (("convert", "cell.up", "other.up"), "exactly one of the two names must end in .csv"),
        (("convert", "cell.up", "other.csv", "--interval", "5"), "--interval: a duration needs a unit"),
        (("convert", "cell.up", "other.csv", "--interval", "1 us"), "at least a millisecond"),
    ],
)
def test_mistakes_end_with_two_and_a_line(files: Cli, arguments: tuple[str, ...], message: str) -> None:
    result = files("trace", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
