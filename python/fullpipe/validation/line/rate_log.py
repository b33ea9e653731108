"""Throughput over time: CSV, and what `iperf3 --json` prints."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullpipe.errors import InputFileError, shown
from fullpipe.scenario.model.tcp import DEFAULT_MSS_BYTES, MOST_MSS_BYTES
from fullpipe.validation.line.measured import SINCE_1970_S, Floats, Rates, Way

MOST_SAMPLES = 1_000_000
_WORDS: Mapping[str, Way] = {"down": "down", "download": "down", "up": "up", "upload": "up"}
_MOST_BPS, _MOST_S = 1e15, 1e12
_LONGEST_GAP = 10
"""Times the usual distance of samples: what is farther from the one before lasted no longer than usual."""


def of_csv(text: str, where: object, way: Way) -> dict[Way, Rates]:
    """The rates of lines `t,bit/s`: the end of a sample in s, and what was delivered since the one before.

    A first line of names may say `t,down`, `t,up` or `t,down,up`; else all is of the way that is given.

    Raises:
        InputFileError: If a line is not of that form, or times do not ascend.
    """
    ways, first = [way], 1
    lines = [line.strip() for line in text.splitlines()]
    if lines and not _is_number(lines[0].split(",")[0]):
        ways, first = _names(lines[0], where, way), 2
    rows = list(_rows(lines[first - 1 :], first, len(ways), where))
    if not 2 <= len(rows) <= MOST_SAMPLES:
        many = f"{len(rows):,} samples; from 2 to {MOST_SAMPLES:,} say a rate"
        raise InputFileError(f"{where}: has {many}, in lines t,bit/s as in 0.5,20000000")
    table = np.array(rows)
    if not (np.diff(table[:, 0]) > 0).all():
        line = first + 1 + int(np.argmin(np.diff(table[:, 0]) > 0))
        raise InputFileError(f"{where}: line {line}: its time is not after that of the line before")
    found = {
        one: _busy(Rates(table[:, 0], _lasts_s(table[:, 0]), table[:, column]))
        for column, one in enumerate(ways, 1)
    }
    if not any(of.bps.any() for of in found.values()):
        raise InputFileError(f"{where}: nothing was delivered: every rate is 0")
    return {one: of for one, of in found.items() if of.bps.any()}


def _names(line: str, where: object, way: Way) -> list[Way]:
    words = [word.strip().lower() for word in line.split(",")]
    if len(words) < 2:
        raise InputFileError(
            f"{where}: line 1: {shown(line[:80])} is neither t,bit/s nor names such as t,down,up"
        )
    if len(words) == 2 and words[1] not in _WORDS:
        return [way]
    if unknown := [word for word in words[1:] if word not in _WORDS]:
        raise InputFileError(f"{where}: line 1: {shown(unknown[0][:80])} is no direction; say t,down,up")
    found = [_WORDS[word] for word in words[1:]]
    if len(set(found)) < len(found):
        raise InputFileError(f"{where}: line 1: names one direction twice")
    return found


def _rows(lines: Sequence[str], first: int, columns: int, where: object) -> Iterator[list[float]]:
    for number, line in enumerate(lines, first):
        if not line or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != 1 + columns or not all(map(_is_number, cells)):
            wanted = "t" + columns * ",bit/s"
            raise InputFileError(
                f"{where}: line {number}: {shown(line[:80])} is not {wanted}, as in 0.5,20000000"
            )
        values = [float(cell) for cell in cells]
        if not (abs(values[0]) < _MOST_S and all(0 <= value < _MOST_BPS for value in values[1:])):
            raise InputFileError(
                f"{where}: line {number}: {shown(line[:80])} has a number that no line could have"
            )
        yield values


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _lasts_s(ends_s: Floats) -> Floats:
    """How long samples lasted: since the one before, unless there is a gap."""
    steps_s = np.diff(ends_s, prepend=ends_s[0] - float(np.median(np.diff(ends_s))))
    usual_s = float(np.median(steps_s))
    return np.where(steps_s > _LONGEST_GAP * usual_s, usual_s, steps_s)


def _busy(rates: Rates) -> Rates:
    """From the first sample that delivered something to the last."""
    busy = np.flatnonzero(rates.bps > 0)
    if not busy.size:
        return rates
    kept = slice(busy[0], busy[-1] + 1)
    return replace(rates, ends_s=rates.ends_s[kept], lasts_s=rates.lasts_s[kept], bps=rates.bps[kept])


def of_iperf3(tree: Any, where: object) -> dict[Way, Rates]:
    """The rates of a test of iperf3, each way.

    Args:
        tree: What its JSON has.
        where: The file.

    Raises:
        InputFileError: If it failed, is not of TCP or has no intervals.
    """
    if not isinstance(tree, Mapping):
        raise InputFileError(f"{where}: is a list in JSON, and not what iperf3 --json prints")
    if isinstance(tree.get("error"), str):
        raise InputFileError(f"{where}: iperf3 failed: {shown(tree['error'][:200])}")
    start = _table(tree, "start", where)
    test = _table(start, "test_start", where)
    if test.get("protocol", "TCP") != "TCP":
        raise InputFileError(
            f"{where}: {shown(str(test.get('protocol'))[:20])} sends at its own rate; test TCP"
        )
    intervals = tree.get("intervals")
    if not isinstance(intervals, list) or len(intervals) < 2:
        raise InputFileError(
            f"{where}: intervals: has fewer than two; run iperf3 for longer than its interval"
        )
    begin_s = _since_1970(start)
    first: Way = "down" if test.get("reverse") else "up"
    keys: dict[Way, str] = {first: "sum"}
    if test.get("bidir"):
        keys["down" if first == "up" else "up"] = "sum_bidir_reverse"
    end = tree.get("end") if isinstance(tree.get("end"), Mapping) else {}
    return {way: _way(intervals, key, way, begin_s, start, end, where) for way, key in keys.items()}


def _way(
    intervals: Sequence[Any],
    key: str,
    way: Way,
    begin_s: float,
    start: Mapping[str, Any],
    end: Any,
    where: object,
) -> Rates:
    rows = []
    for number, interval in enumerate(intervals):
        place = f"intervals[{number}].{key}"
        of = interval.get(key) if isinstance(interval, Mapping) else None
        if not isinstance(of, Mapping):
            raise InputFileError(f"{where}: {place}: should be a table")
        row = [_number(of.get(name)) for name in ("end", "seconds", "bits_per_second")]
        if any(math.isnan(cell) for cell in row):
            raise InputFileError(f"{where}: {place}: end, seconds or bits_per_second is no number of a test")
        if row[1] > 0 and not of.get("omitted"):
            rows.append([*row, _number(of.get("retransmits"))])
    if len(rows) < 2 or not any(row[2] for row in rows):
        raise InputFileError(f"{where}: intervals: fewer than two delivered anything {way}")
    table = np.array(rows, dtype=float)
    side = "sender_tcp_congestion"
    said = end.get(side)
    mss = start.get("tcp_mss_default")
    resent = table[:, 3]
    return _busy(
        Rates(
            begin_s + table[:, 0],
            table[:, 1],
            table[:, 2],
            frozenset({said} if isinstance(said, str) and len(said) <= 100 else ()),
            mss if isinstance(mss, int) and DEFAULT_MSS_BYTES <= mss <= MOST_MSS_BYTES else None,
            None if np.isnan(resent).any() else int(resent.sum()),
        )
    )


def _number(value: object) -> float:
    """A number that a test may have; else NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_BPS:
        return math.nan
    return float(value)


def _since_1970(start: Mapping[str, Any]) -> float:
    stamp = start.get("timestamp")
    if not isinstance(stamp, Mapping):
        return 0.0
    for key, unit_s in (("timemillisecs", 1e-3), ("timesecs", 1.0)):
        value = stamp.get(key)
        if isinstance(value, int | float) and SINCE_1970_S < value * unit_s < _MOST_S:
            return float(value) * unit_s
    return 0.0


def _table(tree: Mapping[str, Any], key: str, where: object) -> Mapping[str, Any]:
    found = tree.get(key)
    if not isinstance(found, Mapping):
        raise InputFileError(f"{where}: {key}: is missing; it should be what iperf3 --json prints")
    return found


def json_of(text: str, where: object) -> Any:
    """A JSON document.

    Raises:
        InputFileError: If it is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputFileError(f"{where}: is not JSON as iperf3 --json prints it") from None
