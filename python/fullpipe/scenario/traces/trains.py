"""Packet trains of CellReplay (Sentosa et al., NSDI 2025), sent into an idle path.

A file has one line per train, in whole milliseconds: its send time, the one-way delay of its first packet,
and the arrival of each packet relative to the first packet, whose own arrival (0) is included. The file
belongs to a packet-delivery trace of the same path, recorded at the same time under constant load.

>>> trains = parse_trains(b"0 21 0 1 5\\n100 25 0 0 4\\n200 21 0\\n")
>>> len(trains.times_ms), trains.period_s, trains.lines()[1]
(3, 0.2, [100, 25, 0, 0, 4])
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fullpipe.errors import brief
from fullpipe.scenario.traces.files import LONGEST_GAP_MS, LONGEST_S, TraceError, read_bytes

_LINES = re.compile(rb"(?:[0-9]{1,10}+(?: [0-9]{1,10}+)++\n)*+")
_MOST_NUMBERS = 5_000_000
_LONGEST_DELAY_MS = 3_600_000


@dataclass(frozen=True)
class Trains:
    """Recorded packet trains."""

    numbers: NDArray[np.int64]
    """All numbers of the file in order, in ms."""
    ends: NDArray[np.int64]
    """For each line, the index in `numbers` after its last number."""

    @property
    def times_ms(self) -> NDArray[np.int64]:
        """Send times of the trains, in order."""
        return self.numbers[self.begins]

    @property
    def delays_ms(self) -> NDArray[np.int64]:
        """One-way delay of the first packet of each train."""
        return self.numbers[self.begins + 1]

    @property
    def period_s(self) -> float:
        """Duration of the recording in s: the send time of the last train."""
        return float(self.times_ms[-1]) / 1e3

    def lines(self) -> list[list[int]]:
        """Return for each train its send time, its delay, and the offsets of its packets (at least one,
        0)."""
        found = (self.numbers[a:b].tolist() for a, b in zip(self.begins, self.ends, strict=True))
        return [line if len(line) > 2 else [*line, 0] for line in found]

    @property
    def begins(self) -> NDArray[np.int64]:
        """For each line, the index in `numbers` of its first number."""
        return np.concatenate([[0], self.ends[:-1]])


def read_trains(path: str | Path) -> Trains:
    """Read packet trains.

    Raises:
        TraceError: If the file cannot be read, is empty or truncated, has a line that is not a time, a delay
            and offsets, or has decreasing times or offsets.
    """
    return parse_trains(read_bytes(path), str(path))


def parse_trains(data: bytes, where: str = "trains") -> Trains:
    """Parse the content of a file of packet trains. `where` is the name of the file for errors. Raises
    TraceError if the content is not valid; see `read_trains`."""
    if not data.strip():
        raise TraceError(where, "is empty; write one line per packet train")
    count = data.count(b" ") + data.count(b"\n")
    if count > _MOST_NUMBERS:
        raise TraceError(where, f"{count:,} numbers are more than {_MOST_NUMBERS:,}; split the file")
    _check_lines(data, where)
    letters = np.frombuffer(data, dtype=np.uint8)
    separators = np.flatnonzero(letters <= ord(" "))
    ends = np.flatnonzero(letters[separators] == ord("\n")) + 1
    trains = Trains(np.fromstring(data, dtype=np.int64, sep=" "), ends)
    _check_numbers(trains, where)
    return trains


def _check_lines(data: bytes, where: str) -> None:
    matched = _LINES.match(data)
    good = matched.end() if matched else 0
    if good == len(data):
        return
    line = data.count(b"\n", 0, good) + 1
    text, end, _ = data[good : good + 1_000].partition(b"\n")
    if not end and _LINES.fullmatch(text + b"\n"):
        raise TraceError(where, "is truncated: the last line has no line break", line)
    shown = brief(text.decode("utf-8", "backslashreplace"))
    raise TraceError(where, f'"{shown}" is not a time, a delay and offsets in whole milliseconds', line)


def _check_numbers(trains: Trains, where: str) -> None:
    times, delays = trains.times_ms, trains.delays_ms
    if len(times) < 2 or times[-1] == 0:
        raise TraceError(
            where, "has no duration; write at least two trains, the last at a time above 0", len(times)
        )
    steps = np.diff(times)
    for wrong, what in (
        (steps < 0, "is before the line above it"),
        (steps >= LONGEST_GAP_MS, "comes an hour or more after the line above it; cut the file there"),
    ):
        if wrong.any():
            n = int(wrong.argmax()) + 1
            raise TraceError(where, f"{times[n]} {what}", n + 1)
    if times[-1] > LONGEST_S * 1000:
        raise TraceError(where, f"{times[-1]} is too large; a trace lasts at most {LONGEST_S} s", len(times))
    if (slow := delays > _LONGEST_DELAY_MS).any():
        n = int(slow.argmax())
        raise TraceError(where, f"a delay of {delays[n]} ms is more than an hour", n + 1)
    falls = np.flatnonzero(np.diff(trains.numbers) < 0) + 1
    heads = trains.begins[:, np.newaxis] + np.arange(
        3
    )  # time, delay and first offset of a line may be smaller than the number before them
    inside = falls[~np.isin(falls, heads)]
    if len(inside):
        n = int(inside[0])
        line = int(np.searchsorted(trains.ends, n, side="right")) + 1
        raise TraceError(where, f"offset {trains.numbers[n]} is smaller than the offset to its left", line)
