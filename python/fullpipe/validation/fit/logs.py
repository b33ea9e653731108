"""Logs of pings and of rates."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from fullpipe.errors import InputFileError, shown
from fullpipe.validation.fit.measured import SINCE_1970_S, Floats, Pings, Rates, Way

# Output of `ping` and `fping`: one line per reply.
#
# [1700000000.123456] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=23.4 ms (iputils, ping -D) 64 Bytes
# von 192.0.2.1: icmp_seq=1 ttl=57 Zeit=23.4 ms (iputils, po/de.po) 64 bytes from 192.0.2.1: icmp_seq=0
# ttl=57 time=23.412 ms (macOS) [1700000000.123456] 192.0.2.1 : [0], 64 bytes, 23.4 ms (23.4 avg, 0% loss)
# (fping -D -l)


_MS = r"(?P<ms>[0-9]{1,9}(?:[.,][0-9]{1,9})?)"
_REPLIES = (
    re.compile(
        r"\b(?:icmp_seq|icmp_req|seq)=(?P<number>[0-9]{1,9}) "
        r"(?:(?:[^\W\d_]{1,8}=[0-9]{1,9} ){1,3}[^\s=<0-9]{1,20}|time)[=<]" + _MS + r" ?[^\W\d_]{1,8}\b(?!=)"
    ),
    re.compile(
        r"(?<!\S)(?P<host>\S{1,255}) +: \[(?P<number>[0-9]{1,9})\], [0-9]{1,6} bytes, " + _MS + r" ms\b"
    ),
)
"""Words differ between languages; the keys `icmp_seq` and `ttl` are the same in all languages (iputils,
po)."""
_STAMP = re.compile(r"\[([0-9]{1,12}(?:\.[0-9]{1,9})?)\] |([0-9]{1,12}\.[0-9]{1,9}) ")
"""Seconds since 1970, as printed by `ping -D`, `fping -D` and `ts %.s`."""
_FIRST = re.compile(r"^PING ", re.MULTILINE)
_AGAIN = 30_000
"""Minimum decrease of a sequence number that counts as wrap-around; sequence numbers have 16 bits (RFC
792)."""
_WRAP = 1 << 16
_LONGEST_MS = 600_000.0


def is_log(text: str) -> bool:
    """Whether a text begins like a log of pings."""
    head = text[:10_000]
    is_begun = _FIRST.search(head[:2_000]) is not None or " bytes from " in head
    return is_begun or any(map(_reply, head.split("\n")))


def pings_of(text: str, where: object) -> tuple[Pings, bool]:
    """The pings of a log, and whether their times count from 1970. Without timestamps, the sequence numbers
    are the times.

    Raises:
        InputFileError: If no line is a reply, an RTT is zero or too long, or there are several hosts.
    """
    stamps: list[float] = []
    numbers: list[int] = []
    rtts_ms: list[float] = []
    hosts: set[str] = set()
    for line, content in enumerate(text.split("\n"), 1):
        found = _reply(content)
        if found is None or content.rstrip().endswith("!)"):  # (DUP!), (BAD CHECKSUM!), (DIFFERENT ADDRESS!)
            continue
        ms = float(found["ms"].replace(",", "."))
        if not 0 < ms < _LONGEST_MS:
            raise InputFileError(f"{where}: line {line}: {ms:g} ms is not a valid RTT")
        rtts_ms.append(ms)
        numbers.append(int(found["number"]))
        stamp = _STAMP.match(content)
        time_s = float(stamp[1] or stamp[2]) if stamp else 0.0
        stamps += [time_s] if time_s > SINCE_1970_S else []
        hosts.add(found.groupdict().get("host") or "")
    if not rtts_ms:
        raise InputFileError(
            f"{where}: no line is a reply as ping prints it: 64 bytes from 192.0.2.1: icmp_seq=1 ttl=57"
            " time=23.4 ms; run LC_ALL=C ping -D"
        )
    if len(hosts) > 1:
        raise InputFileError(f"{where}: has pings to {len(hosts)} hosts; give the pings to one nearby host")
    sequence = np.array(_unwrapped(numbers), dtype=np.float64)
    rtts_s = np.array(rtts_ms) * 1e-3
    one_clock = len(stamps) == len(rtts_ms)
    sent_s = np.array(stamps) - rtts_s if one_clock else sequence - sequence[0]
    order = np.argsort(sent_s, kind="stable")
    lost = round(sequence.max() - sequence.min()) + 1 - np.unique(sequence).size
    return Pings(sent_s[order], rtts_s[order], int(lost)), one_clock


def _reply(line: str) -> re.Match[str] | None:
    return next(filter(None, (kind.search(line) for kind in _REPLIES)), None)


def _unwrapped(numbers: list[int]) -> list[int]:
    """Sequence numbers without wrap-around."""
    rounds, found = 0, numbers[:1]
    for before, after in pairwise(numbers):
        rounds += (after < before - _AGAIN) - (after > before + _AGAIN and rounds > 0)
        found.append(after + rounds * _WRAP)
    return found


# Throughput over time as CSV.


MOST_SAMPLES = 1_000_000
_WORDS: Mapping[str, Way] = {"down": "down", "download": "down", "up": "up", "upload": "up"}
_MOST_BPS, _MOST_S = 1e15, 1e12
_LONGEST_GAP = 10
"""Largest time since the previous sample that counts as the duration of a sample, in multiples of the usual
time between samples. After a longer gap, a sample has the usual duration."""


def of_csv(text: str, where: object, way: Way) -> dict[Way, Rates]:
    """The rates of lines `t,bit/s`: the end of a sample in s, and the rate of delivery since the previous
    sample.

    A header may be `t,down`, `t,up` or `t,down,up`; without a header, all rates belong to the given
    direction.

    Raises:
        InputFileError: If a line does not have this form, or times do not ascend.
    """
    ways, first = [way], 1
    lines = [line.strip() for line in text.split("\n")]
    if lines and not _is_number(lines[0].split(",")[0]):
        ways, first = _names(lines[0], where, way), 2
    rows = list(_rows(lines[first - 1 :], first, len(ways), where))
    if not 2 <= len(rows) <= MOST_SAMPLES:
        many = f"{len(rows):,} samples; give 2 to {MOST_SAMPLES:,}"
        raise InputFileError(f"{where}: has {many}, one per line as t,bit/s: 0.5,20000000")
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
            f"{where}: line 1: {shown(line[:80])} is no header; write t,bit/s or names such as t,down,up"
        )
    if len(words) == 2 and words[1] not in _WORDS:
        return [way]
    if unknown := [word for word in words[1:] if word not in _WORDS]:
        raise InputFileError(f"{where}: line 1: {shown(unknown[0][:80])} is no direction; write t,down,up")
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
                f"{where}: line {number}: {shown(line[:80])} has a time or rate out of range"
            )
        yield values


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _lasts_s(ends_s: Floats) -> Floats:
    """Durations of samples: the time since the previous sample, or the usual duration after a gap."""
    steps_s = np.diff(ends_s, prepend=ends_s[0] - float(np.median(np.diff(ends_s))))
    usual_s = float(np.median(steps_s))
    return np.where(steps_s > _LONGEST_GAP * usual_s, usual_s, steps_s)
