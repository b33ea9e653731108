"""Packet-delivery traces of Mahimahi, and public recordings that can be downloaded."""

import hashlib
import http.client
import re
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullpipe.errors import UnknownNameError
from fullpipe.scenario.traces.files import (
    LONGEST_GAP_MS,
    LONGEST_S,
    OPPORTUNITY_BYTES,
    TraceError,
    read_bytes,
    write_bytes,
)

# Packet-delivery traces of Mahimahi (Netravali et al., USENIX ATC 2015).
#
# A file has one line per delivery opportunity: the time in ms from the beginning at which 1504 bytes (one
# packet of the largest size) can leave. Times do not decrease; two equal lines are two opportunities. The
# last line is also the duration of the trace, after which the trace repeats.


_DIGITS = 10
_NUMBER = re.compile(rb"(0|[1-9][0-9]{0,9})\n?")
_MOST_OPPORTUNITIES = 10_000_000


@dataclass(frozen=True)
class Mahimahi:
    """A packet-delivery trace."""

    times_ms: NDArray[np.int64]
    """Times of the delivery opportunities in ms, in ascending order."""
    final_newline: bool = True
    """Whether the last line of the file ends with a newline."""

    @property
    def content(self) -> bytes:
        """The content of the file."""
        text = "\n".join(map(str, self.times_ms.tolist())) + ("\n" if self.final_newline else "")
        return text.encode()

    @property
    def period_s(self) -> float:
        """Duration of the trace in s: the time in its last line."""
        return float(self.times_ms[-1]) / 1e3

    @property
    def mean_bps(self) -> float:
        """Mean rate of the trace: 1504 B per opportunity."""
        return len(self.times_ms) * OPPORTUNITY_BYTES * 8 / self.period_s

    def counts(self, times_s: NDArray[np.float64], *, repeats: bool) -> NDArray[np.int64]:
        """Number of opportunities up to and including these times.

        >>> Mahimahi(np.array([3, 3, 10])).counts(np.array([0, 0.003, 0.013]), repeats=True).tolist()
        [0, 2, 5]
        """
        at_ms = np.round(times_s * 1e3, 6)
        rounds = at_ms // self.times_ms[-1] if repeats else np.zeros(len(at_ms))
        within = np.searchsorted(self.times_ms, at_ms - rounds * self.times_ms[-1], side="right")
        counts: NDArray[np.int64] = rounds.astype(np.int64) * len(self.times_ms) + within
        return counts


def read_mahimahi(path: str | Path) -> Mahimahi:
    """Read a packet-delivery trace.

    Raises:
        TraceError: If the file cannot be read, is empty or ends at zero, has a line that is not a whole
            number of milliseconds, or has decreasing times.
    """
    return parse_mahimahi(read_bytes(path), str(path))


def parse_mahimahi(data: bytes, where: str = "trace") -> Mahimahi:
    r"""Parse the content of a packet-delivery trace; `where` names the trace in errors.

    >>> trace = parse_mahimahi(b"0\n3\n3\n10\n")
    >>> trace.times_ms.tolist(), trace.period_s, round(trace.mean_bps / 1e6, 4)
    ([0, 3, 3, 10], 0.01, 4.8128)

    Raises:
        TraceError: If the content is not a trace; see `read_mahimahi`.
    """
    if not data.strip():
        raise TraceError(where, "is empty; a trace has a line per delivery opportunity")
    lines = data.count(b"\n")
    if lines > _MOST_OPPORTUNITIES:
        raise TraceError(where, f"{lines:,} lines are more than {_MOST_OPPORTUNITIES:,}; split the file")
    if not _are_numbers(data):
        raise _bad_line(data, where)
    times = np.fromstring(data, dtype=np.int64, sep="\n")
    _check(times, where)
    return Mahimahi(times, data.endswith(b"\n"))


def write_mahimahi(path: str | Path, trace: Mahimahi | ArrayLike) -> None:
    """Write a packet-delivery trace, or its times in milliseconds. A trace from a file is written unchanged.

    Raises:
        TraceError: If the times do not form a trace, or the file cannot be written.
    """
    if not isinstance(trace, Mahimahi):
        trace = Mahimahi(np.asarray(trace, dtype=np.int64))
    _check(trace.times_ms, str(path))
    write_bytes(path, trace.content)


def from_rates(time_s: ArrayLike, rate_bps: ArrayLike, duration_s: float) -> Mahimahi:
    """Return the packet-delivery trace of a rate that changes in steps.

    Each time the integral of the rate completes another 1504 bytes, an opportunity follows at the end of the
    millisecond. Apart from this rounding, the bytes of the trace up to any time lag behind the integral of
    the rate by less than one opportunity.

    Args:
        time_s: Start times of the rates, in order; the first is 0.
        rate_bps: Rates in bits per second.
        duration_s: End of the last rate. The trace ends at the last opportunity before this time.

    Raises:
        TraceError: If times and rates do not form steps, or make no opportunity or too many.
    """
    times, rates = np.asarray(time_s, dtype=float), np.asarray(rate_bps, dtype=float)
    edges = np.append(times, duration_s)
    if times.ndim != 1 or times.shape != rates.shape or len(times) == 0 or times[0] != 0:
        raise TraceError("rates", "expected as many times as rates, and 0 as the first time")
    if not (np.isfinite(edges).all() and np.isfinite(rates).all() and (rates >= 0).all()):
        raise TraceError("rates", "times and rates must be finite, and rates must not be negative")
    if (np.diff(edges) < 0).any() or duration_s > LONGEST_S:
        raise TraceError("rates", f"times must not decrease, and must be at most {LONGEST_S} s")
    carried = np.concatenate([[0.0], np.cumsum(rates * np.diff(edges))]) / (8 * OPPORTUNITY_BYTES)
    count = int(carried[-1] + 1e-9)
    if not 0 < count <= _MOST_OPPORTUNITIES:
        raise TraceError(
            "rates", f"result in {count:,} delivery opportunities; a trace has 1 to {_MOST_OPPORTUNITIES:,}"
        )
    number = np.arange(1, count + 1)
    step = np.searchsorted(carried[1:] + 1e-9, number)
    reached_s = edges[step] + (number - carried[step]) * 8 * OPPORTUNITY_BYTES / rates[step]
    made = np.maximum.accumulate(np.ceil(reached_s * 1e3 - 1e-6).astype(np.int64))
    _check(made, "rates")
    return Mahimahi(made)


def from_deliveries(time_s: ArrayLike, size_bytes: ArrayLike) -> Mahimahi:
    """Return the packet-delivery trace of packets that arrived.

    Each packet that completes another 1504 bytes makes an opportunity, at the end of the millisecond of its
    arrival.

    Args:
        time_s: Arrival times, in order, from the beginning of the trace.
        size_bytes: Sizes of the packets as the trace counts them; Mahimahi counts the IP packet plus 4 bytes.

    Raises:
        TraceError: If times and sizes differ in number, give no opportunity or too many, or contain a pause
            of an hour.
    """
    times, carried = np.asarray(time_s, dtype=float), np.cumsum(np.asarray(size_bytes, dtype=np.int64))
    if times.ndim != 1 or times.shape != carried.shape or not np.isfinite(times).all():
        raise TraceError("deliveries", "expected as many finite times as sizes")
    count = int(carried[-1]) // OPPORTUNITY_BYTES if len(carried) else 0
    if not 0 < count <= _MOST_OPPORTUNITIES:
        raise TraceError(
            "deliveries", f"fill {count:,} delivery opportunities; a trace has 1 to {_MOST_OPPORTUNITIES:,}"
        )
    completes = np.searchsorted(carried, np.arange(1, count + 1) * OPPORTUNITY_BYTES)
    made = np.ceil(times[completes] * 1e3 - 1e-6).astype(np.int64)
    _check(made, "deliveries")
    return Mahimahi(made)


def to_rates(trace: Mahimahi, interval_s: float = 0.1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Convert a packet-delivery trace to a rate over time, for plots.

    Args:
        trace: The trace.
        interval_s: Interval over which the rate is averaged, in whole milliseconds.

    Returns:
        The start of each interval in s, and the mean rate in each interval in bit/s. An opportunity at the
        end of an interval belongs to this interval; an opportunity at 0 belongs to the first interval.

    Raises:
        TraceError: If the interval is shorter than a millisecond.
    """
    width_ms = round(interval_s * 1e3)
    if width_ms < 1:
        raise TraceError("interval", "must be at least a millisecond, the resolution of the trace")
    last = int(trace.times_ms[-1])
    edges = np.arange(0, last + width_ms, width_ms)
    upto = np.searchsorted(trace.times_ms, edges, side="right")
    upto[0] = 0
    spans = np.minimum(edges[1:], last) - edges[:-1]
    return edges[:-1] / 1e3, np.diff(upto) * OPPORTUNITY_BYTES * 8e3 / spans


def _check(times: NDArray[np.int64], where: str) -> None:
    if times.ndim != 1 or len(times) == 0:
        raise TraceError(where, "is empty; a trace has a line per delivery opportunity")
    if times[0] < 0:
        raise TraceError(where, f"{times[0]} is negative", 1)
    falls = np.flatnonzero(np.diff(times) < 0)
    if len(falls):
        n = int(falls[0]) + 1
        raise TraceError(where, f"{times[n]} is before {times[n - 1]}, the line above it", n + 1)
    if times[-1] == 0:
        raise TraceError(where, "the last line is 0, so the trace has no duration", len(times))
    if times[-1] > LONGEST_S * 1000:
        raise TraceError(where, f"{times[-1]} is too large; a trace lasts at most {LONGEST_S} s", len(times))
    gaps = np.diff(times, prepend=0)
    if gaps.max() >= LONGEST_GAP_MS:
        n = int(gaps.argmax())
        raise TraceError(
            where, f"{times[n]} comes an hour or more after the line above it; cut the file there", n + 1
        )


def _are_numbers(data: bytes) -> bool:
    """Whether each line is a number without leading zeros. The last newline may be missing."""
    if data.translate(None, b"0123456789\n"):
        return False
    letters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    begins = np.concatenate([[0], ends + 1])
    lengths = np.append(ends, len(data)) - begins
    if lengths[-1] == 0:  # the text after the last newline is not a line
        begins, lengths = begins[:-1], lengths[:-1]
    zeros = (letters[begins] == ord("0")) & (lengths > 1)
    return bool((lengths >= 1).all() and (lengths <= _DIGITS).all() and not zeros.any())


def _bad_line(data: bytes, where: str) -> TraceError:
    n, line = next((n, line) for n, line in enumerate(BytesIO(data)) if not _NUMBER.fullmatch(line))
    shown = line.removesuffix(b"\n")[:40].decode("utf-8", "replace")
    what = "is empty" if not shown else f'"{shown}" is not'.replace("\r", "\\r")
    tail = "" if not shown else " a whole number of milliseconds, written with digits alone"
    return TraceError(where, f"{what}{tail}", n + 1)


# Public recordings with their licences and addresses. They do not ship with fullpipe.


RAW = "https://raw.githubusercontent.com"
"""Beginning of the address of files in GitHub repositories."""
_MOST_BYTES = 256_000_000
"""Maximum download in bytes, for files whose size is not listed."""
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Fetchable:
    """One file of a public set."""

    name: str
    """Name for `fullpipe trace fetch`: SET/FILE."""
    path: str
    """Path below `RAW`."""
    id: str
    """Blob ID in git: SHA-1 of a header (with the size) followed by the content."""
    size_bytes: int | None
    """Size of the file. None: unknown."""


@dataclass(frozen=True)
class PublicSet:
    """A published set of recordings."""

    name: str
    what: str
    licence: str
    page: str
    """Web page about the set."""
    files: tuple[Fetchable, ...]
    """Files that can be downloaded one by one; empty for sets that are published only as archives or
    pages."""


@cache
def public_sets() -> tuple[PublicSet, ...]:
    """Return the public sets listed in `public-traces.toml`."""
    text = (files("fullpipe") / "data" / "public-traces.toml").read_text(encoding="utf-8")
    return tuple(_set(entry) for entry in tomllib.loads(text)["sets"])


def _set(entry: dict[str, object]) -> PublicSet:
    name, described = str(entry["name"]), entry.get("files", [])
    assert isinstance(described, list)
    start = f"{entry.get('repository')}/{entry.get('commit')}/{entry.get('folder')}"
    found = (
        Fetchable(f"{name}/{file['name']}", start + file["name"], file["id"], file.get("bytes"))
        for file in described
    )
    return PublicSet(name, str(entry["what"]), str(entry["licence"]), str(entry["page"]), tuple(found))


def choose(name: str) -> tuple[PublicSet, Fetchable]:
    """Return the file named SET/FILE, or SET if the set has one file.

    Raises:
        UnknownNameError: If no such set or file exists.
        TraceError: If the set has several files, or none that can be fetched.
    """
    for one in public_sets():
        if one.name == name and len(one.files) == 1:
            return one, one.files[0]
        if one.name == name and not one.files:
            raise TraceError(name, f"has no single files to fetch; see {one.page}, licence: {one.licence}")
        if one.name == name:
            raise TraceError(name, f"has {len(one.files)} files; name a file, such as {one.files[0].name}")
        for file in one.files:
            if file.name == name:
                return one, file
    known = [name for one in public_sets() for name in (one.name, *(file.name for file in one.files))]
    raise UnknownNameError("recording", name, known, "fullpipe trace list")


def fetch(file: Fetchable) -> bytes:
    """Download a file.

    Raises:
        TraceError: If the file cannot be read, or its size or ID differs from the listed size or ID.
    """
    url = f"{RAW}/{file.path}"
    limit = file.size_bytes or _MOST_BYTES
    data = b"".join(_chunks(url, limit))
    if file.size_bytes is not None and len(data) != file.size_bytes:
        raise TraceError(
            url, f"got {len(data):,} bytes instead of the listed {file.size_bytes:,} bytes; nothing is stored"
        )
    if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != file.id:
        raise TraceError(url, f"is not the file with the Git blob ID {file.id}; nothing is stored")
    return data


def _chunks(url: str, limit: int) -> Iterator[bytes]:
    """Yield the downloaded chunks. Raises TraceError beyond the limit."""
    come = 0
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            while come <= limit and (chunk := answer.read(1 << 20)):
                come += len(chunk)
                yield chunk
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", None) or error).split())
        raise TraceError(url, f"{reason}; check the network, and repeat the command") from error
    if come > limit:
        raise TraceError(url, f"longer than {limit:,} bytes; nothing is stored")
