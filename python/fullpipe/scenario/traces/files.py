"""Trace files: reading and writing as bytes, delays as lines, and rate, delay or loss over time as CSV.

Each row of a CSV file holds until the next row. The first line names the columns: `time_s`, and one or more
of `rate_bps`, `delay_s` and `loss`. Times do not decrease. An empty cell means that the value of its column
does not change.

>>> steps = parse_steps(b"time_s,rate_bps,loss\\n0,2000000,0\\n1.5,0,\\n2,8000000,0.01\\n")
>>> steps.rate_bps
(2000000, 0, 8000000)
>>> steps.loss
(0.0, None, 0.01)
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fullpipe import files
from fullpipe.errors import ScenarioError

MAX_FILE_BYTES = 64_000_000
OPPORTUNITY_BYTES = 1504
"""Bytes per opportunity of a packet-delivery trace: 1500 B of IP and 4 B that a TUN device prepends."""
LONGEST_S = 1_000_000
"""Maximum duration of a trace: about 11 days."""
LONGEST_GAP_MS = 3_600_000
"""Shortest gap between two lines, in ms, for which a trace is refused. The longest pause in Mahimahi's own
traces is 78 s. A gap of an hour means that the file contains two recordings."""


class TraceError(ScenarioError):
    """A mistake in a trace file. The message has the file, the line, and what to write instead."""

    def __init__(self, where: str, message: str, line: int | None = None) -> None:
        super().__init__([f"{where}{'' if line is None else f':{line}'}: {message}"])


def read_bytes(path: str | Path) -> bytes:
    """Return the content of a trace file.

    Raises:
        TraceError: If the file is missing, not regular, unreadable or larger than 64 MB.
    """
    path = Path(path)
    try:
        files.check_input(path)
        if path.exists() and not path.is_file():
            raise TraceError(str(path), "is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise TraceError(str(path), "no such file") from None
    except (OSError, ValueError) as error:
        raise TraceError(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_FILE_BYTES:
        raise TraceError(str(path), f"larger than {MAX_FILE_BYTES // 1_000_000} MB; split the file")
    return data


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a trace file.

    Raises:
        TraceError: If the file cannot be written.
    """
    try:
        files.replace(Path(path), data)
    except (OSError, ValueError) as error:
        raise TraceError(
            str(path), f"cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None


# Delays, one per line.


MAX_DELAYS = 100_000
_LONGEST_DELAY_MS = 3_600_000.0


def parse_delays(data: bytes, where: str = "delays") -> tuple[int, ...]:
    """Parse a file with one delay in ms per line into delays in ns. Empty lines are ignored.

    >>> parse_delays(b"0.25\\n12\\n")
    (250000, 12000000)

    Raises:
        TraceError: If a line is not a delay from 0 ms to an hour, or the file has no delay or more than
            100,000.
    """
    found: list[int] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.strip()
        if not text:
            continue
        if len(found) == MAX_DELAYS:
            raise TraceError(where, f"has more than {MAX_DELAYS:,} delays; leave out lines", number)
        found.append(_nanoseconds(text.decode("utf-8", "replace"), where, number))
    if not found:
        raise TraceError(where, "is empty; write one delay in ms per line, such as 2.5")
    return tuple(found)


def _nanoseconds(text: str, where: str, line: int) -> int:
    try:
        delay_ms = float(text)
    except ValueError:
        delay_ms = math.nan
    if math.isnan(delay_ms):
        raise TraceError(where, f'"{text[:40]}" is not a number; write a delay in ms, such as 2.5', line)
    if not 0 <= delay_ms <= _LONGEST_DELAY_MS:
        text = f"{text[:40]} is out of range, 0 to {_LONGEST_DELAY_MS:.0f} ms"
        raise TraceError(where, text, line)
    return round(delay_ms * 1e6)


# CSV of time and rate, delay or loss.


MAX_ROWS = 1_000_000
_COLUMNS = {"rate_bps": 1e15, "delay_s": 3_600.0, "loss": 1.0}
"""Columns besides `time_s`, each with its largest accepted value."""


@dataclass(frozen=True)
class Steps:
    """Values of a link over time. None means a missing column, or a cell whose value does not
    change."""

    time_s: tuple[float, ...]
    rate_bps: tuple[int | None, ...] | None = None
    delay_s: tuple[float | None, ...] | None = None
    loss: tuple[float | None, ...] | None = None


def read_steps(path: str | Path) -> Steps:
    """Read a CSV file of time and rate, delay or loss.

    Raises:
        TraceError: If the file cannot be read, is empty, has no or unknown columns, has a cell that is not a
            number in the column's range, or has decreasing times.
    """
    return parse_steps(read_bytes(path), str(path))


def parse_steps(data: bytes, where: str = "trace") -> Steps:
    """Parse the content of a CSV file. `where` is the name of the file for errors. Raises TraceError if the
    content is not valid; see `read_steps`."""
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceError(where, f"byte {error.start} is not UTF-8") from None
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    rows = _rows(csv.reader(text, strict=True), where)
    begin = list(islice(rows, 2))
    if len(begin) < 2:
        raise TraceError(where, "is empty; write a line of names such as time_s,rate_bps and rows below it")
    names = _names(begin[0][1], where)
    cells: dict[str, list[float | None]] = {name: [] for name in names}
    lines = []
    for line, row in chain(begin[1:], rows):
        if len(row) != len(names):
            raise TraceError(where, f"has {len(row)} cells instead of {len(names)}, one per column", line)
        lines.append(line)
        for name, cell in zip(names, row, strict=True):
            cells[name].append(_number(name, cell, where, line))
    times = _times(cells.pop("time_s"), lines, where)
    rates = cells.pop("rate_bps", None)
    whole = None if rates is None else tuple(None if rate is None else round(rate) for rate in rates)
    if whole is not None and not any(whole):
        raise TraceError(where, "has no rate above zero, so that nothing is ever sent")
    return Steps(times, whole, *(tuple(cells[n]) if n in cells else None for n in ("delay_s", "loss")))


def write_steps(path: str | Path, steps: Steps) -> None:
    """Write steps as CSV, so that `read_steps` returns the same steps.

    Raises:
        TraceError: If the steps are invalid, or the file cannot be written.
    """
    columns: dict[str, Iterable[float | None]] = {
        name: values for name in ("time_s", *_COLUMNS) if (values := getattr(steps, name)) is not None
    }
    rows = ["" if v is None else f"{v!r}" for values in zip(*columns.values(), strict=True) for v in values]
    width = len(columns)
    lines = [",".join(columns), *(",".join(rows[i : i + width]) for i in range(0, len(rows), width))]
    data = ("\n".join(lines) + "\n").encode()
    parse_steps(data, str(path))
    write_bytes(path, data)


def _rows(reader: Any, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield non-empty rows with their line numbers. Only one row is in memory at a time."""
    count = 0
    try:
        for row in reader:
            if row:
                count += 1
                if count > MAX_ROWS:
                    raise TraceError(where, f"has more than {MAX_ROWS:,} rows; split the file")
                yield reader.line_num, row
    except csv.Error as error:
        raise TraceError(where, f"not CSV: {error}", reader.line_num) from None


def _names(row: list[str], where: str) -> list[str]:
    known = ("time_s", *_COLUMNS)
    names = [name.strip() for name in row[: len(known) + 1]]  # a further name must be unknown or repeated
    for name in names:
        if name not in known or names.count(name) > 1:
            problem = "is given twice" if name in known else f"is unknown; there is {', '.join(known)}"
            raise TraceError(where, f'the column "{name[:40]}" {problem}', 1)
    if "time_s" not in names or len(names) < 2:
        raise TraceError(where, "needs a column time_s and one or more of rate_bps, delay_s and loss", 1)
    return names


def _number(name: str, cell: str, where: str, line: int) -> float | None:
    text = cell.strip()
    if not text and name != "time_s":
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TraceError(where, f'{name}: "{text[:40]}" is not a number', line)
    most = _COLUMNS.get(name, LONGEST_S)
    if not 0 <= value <= most:
        raise TraceError(where, f"{name}: {text[:40]} is out of range, 0 to {most:g}", line)
    return value


def _times(cells: list[float | None], lines: list[int], where: str) -> tuple[float, ...]:
    times = tuple(time for time in cells if time is not None)
    for n in range(1, len(times)):
        if times[n] < times[n - 1]:
            raise TraceError(where, f"{times[n]:g} s is before {times[n - 1]:g} s, the row above", lines[n])
    return times
