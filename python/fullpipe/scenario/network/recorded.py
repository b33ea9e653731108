"""Recordings of rate, delay and loss as steps of a link: the rows of a CSV, repeated and shifted.

Packet-delivery traces have no steps: `crates/network/src/opportunities.rs` repeats and shifts them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from fullpipe.scenario.quantities import to_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullpipe.scenario.model.link.trace import Trace
    from fullpipe.scenario.network.timeline import Step, Values
    from fullpipe.scenario.traces import Steps


def recorded(trace: Trace, rows: Steps) -> Iterator[Step]:
    """Yield the steps of a recording from the beginning of the run, without end if the trace repeats.

    The rows up to the beginning of the run are one step at 0.

    Args:
        trace: The trace, with its offset.
        rows: The rows of the trace's file.
    """
    columns = (rows.time_s, rows.rate_bps, rows.delay_s, rows.loss)
    filled = [column if column is not None else (None,) * len(rows.time_s) for column in columns]
    table = [(to_nanoseconds(row[0] or 0.0), _values(*row[1:])) for row in zip(*filled, strict=True)]
    offset, period = to_nanoseconds(trace.offset_s), table[-1][0]
    rounds = count(max(0, offset // period - 1)) if trace.repeat else iter((0,))
    past: dict[str, Any] = {}
    for at, values in ((n * period + at - offset, values) for n in rounds for at, values in table):
        if at <= 0:
            past.update(values)
            continue
        if past:
            yield 0, past
            past = {}
        yield at, values
    if past:
        yield 0, past


def _values(rate_bps: Any, delay_s: Any, loss: Any) -> Values:
    found: dict[str, Any] = {}
    if rate_bps is not None:
        found["rate_bps"] = rate_bps
    if delay_s is not None:
        found["delay_ns"] = to_nanoseconds(delay_s)
    if loss is not None:
        found["loss"] = {"kind": "bernoulli", "probability": loss}
    return found
