"""Throughput over time as CSV."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fullpipe.errors import InputFileError, shown
from fullpipe.validation.line.measured import Floats, Rates, Way

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
    lines = [line.strip() for line in text.split("\n")]
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
        one: Rates(table[:, 0], _lasts_s(table[:, 0]), table[:, column]).busy()
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
