"""A file of Flent's as the measurement of a line."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from fullpipe.engines.flent.remarks import Test
from fullpipe.engines.flent.run import read_test
from fullpipe.engines.flent.series import ECHOES
from fullpipe.engines.flent.totals import mss_of, retransmissions
from fullpipe.engines.flent.twin import directions_of, goodput_bps
from fullpipe.errors import InputFileError
from fullpipe.validation.line.measured import WAYS, Known, Measured, Pings, Rates, Way


def measured_of(path: Path) -> Measured:
    """What a file says.

    Raises:
        InputFileError: If it is no file of Flent's, or has no ping or no stream.
    """
    test = read_test(path)
    pings = _pings(test)
    if not pings.rtts_s.size:
        raise InputFileError(f"{path}: no ping or probe says how long the line is")
    rates = {way: found for way in WAYS if (found := _rates(test, way)) is not None}
    if not rates:
        raise InputFileError(f"{path}: no stream of TCP says what rate the line has")
    measured = Measured(pings, rates, one_clock=True)
    if not measured.both_at_once:
        return measured
    ways, guessed, unknown = directions_of(test)  # as ACKs of either direction wait in the queue of the other
    values = {way: (of.rate_bps, of.queue_s, of.stands_for) for way, of in ways.items()}
    return replace(measured, known=Known(values, guessed, unknown))


def _pings(test: Test) -> Pings:
    """Those of best effort to the nearest host."""
    series = [one for one in test.series if one.kind in ECHOES and one.mark is None and one.values]
    if not series:
        return Pings(np.array([]), np.array([]))
    nearest = min(series, key=lambda one: float(np.median(one.column("val", one.values))))
    near = [one for one in series if one.host == nearest.host]
    rtts_s = np.concatenate([one.column("val", one.values) for one in near]) * 1e-3
    ends_s = np.concatenate([test.timing.since(one.column("t", one.values)) for one in near])
    kept = rtts_s > 0
    order = np.argsort(ends_s[kept] - rtts_s[kept], kind="stable")
    return Pings((ends_s - rtts_s)[kept][order], rtts_s[kept][order])


def _rates(test: Test, way: Way) -> Rates | None:
    streams = [one for one in test.streams if one.is_upload == (way == "up") and one.values]
    if not streams:
        return None
    together = np.vstack([goodput_bps(test, one) for one in streams])
    runs = ~np.isnan(together).all(axis=0)
    if runs.sum() < 2 or not np.nansum(together) > 0:
        return None
    counts = [retransmissions(one) for one in streams]
    known = [count for count in counts if count is not None]
    names = {test.names.algorithm(one) for one in streams}
    return Rates(
        test.timing.grid_s[runs],
        np.full(int(runs.sum()), test.timing.step_s),
        np.nansum(together, axis=0)[runs],
        frozenset(name for name in names if name),
        mss_of(streams[0]),
        sum(known) if len(known) == len(counts) else None,
    )
