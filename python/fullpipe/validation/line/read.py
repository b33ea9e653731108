"""Files of measurements, read without trust, as one measurement of one line."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from fullpipe import files
from fullpipe.engines.pcap.blocks import is_capture
from fullpipe.errors import InputFileError
from fullpipe.validation.line import foreign, iperf3, ping_log, rate_log
from fullpipe.validation.line.measured import SINCE_1970_S, Measured, Pings, Rates, Way
from fullpipe.validation.line.of_flent import measured_of as of_flent
from fullpipe.validation.line.of_pcap import measured_of as of_pcap

MOST_BYTES = 64_000_000
MOST_LINES = 2_000_000
"""A line of a few bytes becomes a hundred in memory."""
_GZIP = b"\x1f\x8b"
_OF_FLENT = (b'"metadata"', b'"raw_values"', b'"x_values"')


def read(paths: Sequence[Path], way: Way = "down") -> Measured:
    """What files say of a line: logs of ping or fping, throughput as CSV or of iperf3, or one file that has
    all: of Flent's, pcap or pcapng.

    Args:
        paths: The files, in any order.
        way: What CSV without names of directions is of.

    Raises:
        InputFileError: If one is none of these, if pings or rates are missing, or if two say the same.
    """
    for path in paths:
        whole = _whole(path)
        if whole is not None and len(paths) > 1:
            raise InputFileError(f"{path}: such a file has all in it; give it alone")
        if whole is not None:
            return whole(path)
    pings: list[tuple[Pings, bool]] = []
    rates: dict[Way, Rates] = {}
    for path in paths:
        found = _one(path, way)
        if isinstance(found, tuple):
            pings.append(found)
            continue
        if twice := sorted(rates.keys() & found.keys()):
            raise InputFileError(
                f"{path}: another file has rates {twice[0]}, too; give one for each direction"
            )
        rates |= found
    if not rates:
        raise InputFileError(
            f"{paths[0]}: no file says a rate; give throughput as CSV or of iperf3 --json, too"
        )
    if not pings:
        raise InputFileError(
            f"{paths[0]}: no file has pings, which say how long the line is; give a ping log, too"
        )
    return _together(pings, rates)


def _one(path: Path, way: Way) -> tuple[Pings, bool] | dict[Way, Rates]:
    text = _text(path)
    if ping_log.is_log(text):
        return ping_log.pings_of(text, path)
    foreign.refuse(text, path)
    if text.lstrip()[:1] in ("{", "["):
        return iperf3.rates_of(text, path)
    return rate_log.of_csv(text, path, way)


def _whole(path: Path) -> Callable[[Path], Measured] | None:
    """What reads a file that has rates and RTTs, by how it begins: a capture, or packed or with the tables of
    Flent; None for others."""
    try:
        with files.open_regular(path) as file:
            head = file.read(4_096)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    if is_capture(path):
        return of_pcap
    return of_flent if head[:2] == _GZIP or any(key in head for key in _OF_FLENT) else None


def _text(path: Path) -> str:
    try:
        with files.open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > MOST_BYTES:
        raise InputFileError(f"{path}: has more than {MOST_BYTES // 10**6} MB; no log of a test is as large")
    if data.count(b"\n") > MOST_LINES:
        raise InputFileError(f"{path}: has more than {MOST_LINES:,} lines; no log of a test has as many")
    if not data.strip():
        raise InputFileError(f"{path}: is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # what PowerShell redirects
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:10_000]:
        raise InputFileError(f"{path}: is no text; {foreign.READ}")
    return data.decode("utf-8", errors="replace").lstrip("\ufeff")


def _together(pings: Sequence[tuple[Pings, bool]], rates: Mapping[Way, Rates]) -> Measured:
    stamped = all(one_clock for _, one_clock in pings)
    one_clock = stamped and all(of.begin_s > SINCE_1970_S for of in rates.values())
    sent_s = np.concatenate([of.sent_s for of, _ in pings])
    order = np.argsort(sent_s, kind="stable")
    rtts_s = np.concatenate([of.rtts_s for of, _ in pings])
    every = Pings(sent_s[order], rtts_s[order], sum(of.lost for of, _ in pings))
    told = dict.fromkeys(line for of in rates.values() for line in of.told)
    return Measured(every, rates, one_clock, tuple(told))
