"""Cells that cannot be, given to the command line: exit status 2, and one line that says where and what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
FILE = """
name = "bad"
duration = "1 s"
topology = {{ kind = "dumbbell", bottleneck = {{ cell = "home" }} }}
flows = [{{ cca = "cubic", station = "laptop" }}]

[[cells]]
name = "home"
kind = "wifi"
{cell}
"""
LAPTOP = 'stations = [{ node = "laptop" }]'


def many(number: int) -> str:
    nodes = ", ".join(f'{{ node = "s{n}" }}' for n in range(number))
    return f"stations = [{nodes}]"


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (
            f'standard = "802.11x"\n{LAPTOP}',
            'cells[0].standard: unknown value "802.11x"; did you mean "802.11ax"?',
        ),
        (
            'standard = "802.11ac"\nwidth = "20 MHz"\nstreams = 1\n'
            'stations = [{ node = "laptop", rate = { mcs = 9 } }]',
            "cells[0].stations[0].rate.mcs: 802.11ac has no MCS 9 at 20 MHz with 1 stream; the highest is 8",
        ),
        (
            'standard = "802.11n"\nstations = [{ node = "laptop", rate = { mcs = 15 } }]',
            "cells[0].stations[0].rate.mcs: must be at most 11, got 15; write MCS 15 of"
            " 802.11n as mcs = 7 with streams = 2",
        ),
        (
            'standard = "802.11n"\nstations = [{ node = "laptop", rate = { mcs = 8 } }]',
            "cells[0].stations[0].rate.mcs: 802.11n has no MCS 8 at 20 MHz with 2 streams; the highest is 7;"
            " write MCS 8 of 802.11n as mcs = 0 with streams = 2",
        ),
        (
            'stations = [{ node = "laptop", rate = "7.2 Mbit/s" }]',
            'cells[0].stations[0].rate: "7.2 Mbit/s" is no MCS; write { mcs = 0 }: the bit rate'
            " follows from the MCS, the channel width, the guard interval and the streams",
        ),
        ("stations = []", "cells[0].stations: has 0, must have at least 1"),
        ("", 'cells[0].stations: missing; write for example stations = [{ node = "laptop" }]'),
        (
            'stations = [{ node = "laptop", snr = nan }]',
            'cells[0].stations[0].snr: expected a ratio such as "30 dB", from -100 to 100, got nan',
        ),
        (
            'stations = [{ node = "laptop", snr = "nan dB" }]',
            'cells[0].stations[0].snr: expected a ratio such as "30 dB", from -100 to 100, got "nan dB"',
        ),
        (many(2_008), "cells[0].stations: has 2008, must have at most 2007"),
        (many(70_000), "bad.toml: larger than 1 MB; a scenario is a short TOML file"),
        (f"release_each = 1\n{LAPTOP}", "cells[0].release_each: expected true or false, got 1"),
    ],
    ids=[
        "standard",
        "MCS",
        "MCS 15",
        "MCS 8",
        "bit rate",
        "no station",
        "left out",
        "nan",
        "nan dB",
        "2,008",
        "more than 1 MB",
        "switch",
    ],
)
def test_a_cell_that_cannot_be_is_refused_in_one_line(fullpipe: Cli, cell: str, told: str) -> None:
    Path("bad.toml").write_text(FILE.format(cell=cell))
    for command in ("run", "show"):
        done = fullpipe(command, "bad.toml")
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"fullpipe: {told}\n")
