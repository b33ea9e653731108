"""What `ping` prints, of iputils and of macOS: a line for every reply.

[1700000000.123456] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=23.4 ms     (iputils, ping -D)
64 bytes from 192.0.2.1: icmp_seq=0 ttl=57 time=23.412 ms                       (macOS, and iputils)
"""

import re
from itertools import pairwise

import numpy as np

from fullpipe.errors import InputFileError, shown
from fullpipe.validation.line.measured import Pings

_REPLY = re.compile(
    r"(?:\[(?P<at>[0-9]{1,12}(?:\.[0-9]{1,9})?)\] |[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{1,9} )?"
    r"[0-9]{1,6} bytes from .{1,300}?[ :](?:icmp_seq|icmp_req|seq)=(?P<number>[0-9]{1,9}) .{0,40}?"
    r"time[=<](?P<ms>[0-9]{1,9}(?:\.[0-9]{1,9})?) ms"
)
FIRST = re.compile(r"^PING ", re.MULTILINE)
_AGAIN = 30_000
"""A sequence number that is smaller by so much has begun anew: it has 16 bits (RFC 792)."""
_WRAP = 1 << 16
_LONGEST_MS = 600_000.0


def pings_of(text: str, where: object) -> tuple[Pings, bool]:
    """The pings of a log, and whether their times count from 1970. Without `-D` they count in pings.

    Raises:
        InputFileError: If no line is a reply, or a time of one is no time that a reply takes.
    """
    stamps: list[float] = []
    numbers: list[int] = []
    rtts_ms: list[float] = []
    for line, content in enumerate(text.splitlines(), 1):
        found = _REPLY.match(content)
        if found is None or content.endswith("(DUP!)"):
            continue
        ms = float(found["ms"])
        if not 0 < ms < _LONGEST_MS:
            raise InputFileError(f"{where}: line {line}: a reply after {shown(found['ms'])} ms is no reply")
        rtts_ms.append(ms)
        numbers.append(int(found["number"]))
        stamps += [float(found["at"])] if found["at"] else []
    if not rtts_ms:
        raise InputFileError(
            f"{where}: no line is a reply as ping prints it: 64 bytes from 192.0.2.1: icmp_seq=1 ttl=57"
            " time=23.4 ms"
        )
    sequence = np.array(_unwrapped(numbers), dtype=np.float64)
    rtts_s = np.array(rtts_ms) * 1e-3
    one_clock = len(stamps) == len(rtts_ms)
    sent_s = np.array(stamps) - rtts_s if one_clock else sequence - sequence[0]
    order = np.argsort(sent_s, kind="stable")
    lost = round(sequence.max() - sequence.min()) + 1 - np.unique(sequence).size
    return Pings(sent_s[order], rtts_s[order], int(lost)), one_clock


def _unwrapped(numbers: list[int]) -> list[int]:
    """Sequence numbers that do not begin anew."""
    rounds, found = 0, numbers[:1]
    for before, after in pairwise(numbers):
        rounds += (after < before - _AGAIN) - (after > before + _AGAIN and rounds > 0)
        found.append(after + rounds * _WRAP)
    return found
