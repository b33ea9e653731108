"""Links from statistics of `tc` during a test, and the queue discipline of the test host."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from fullpipe.engines.flent.document import Document
from fullpipe.engines.flent.samples import latest
from fullpipe.engines.flent.series import Floats, Series
from fullpipe.engines.flent.timing import Timing
from fullpipe.errors import brief
from fullpipe.runs import TABLES
from fullpipe.runs.encoding import empty
from fullpipe.runs.schema import frame
from fullpipe.scenario import catalogue

_OF_DEVICES = ("mq", "noqueue")
"""Root qdiscs of devices with several queues, above the actual disciplines."""


def links(series: Sequence[Series], timing: Timing) -> dict[str, pl.DataFrame]:
    """Return the tables of links, with one link for every sampled qdisc."""
    if not series:
        return {}
    samples = [_samples(one, timing) for one in series]
    summaries = [_summary(one, timing) for one in series]
    return {
        "links": pl.concat([frame(TABLES["links"], of) for of in samples] or [empty("links")]),
        "links_summary": pl.concat([frame(TABLES["links_summary"], of) for of in summaries]),
    }


def _samples(one: Series, timing: Timing) -> Mapping[str, object]:
    grid_s, times_s = timing.grid_s, timing.since(one.column("t"))
    return {
        "time_s": grid_s,
        "link": [one.flow] * grid_s.size,
        "backlog_bytes": latest(times_s, one.column("backlog_bytes"), grid_s),
        "backlog_packets": latest(times_s, one.column("backlog_pkts"), grid_s),
        "dropped_packets": _in_steps(times_s, one.column("dropped"), grid_s),
        "marked_packets": _in_steps(times_s, one.column("ecn_mark"), grid_s),
    }


def _summary(one: Series, timing: Timing) -> Mapping[str, object]:
    after = timing.since(one.column("t")) >= timing.delay_s
    backlog = one.column("backlog_pkts")[after]
    return {
        "link": [one.flow],
        "dropped_packets": [_total(one.column("dropped")[after])],
        "marked_packets": [_total(one.column("ecn_mark")[after])],
        "forwarded_packets": [_grown(one.column("sent_pkts")[after])],
        "forwarded_bytes": [_grown(one.column("sent_bytes")[after])],
        "backlog_max_packets": [_most(backlog)],
    }


def _in_steps(times_s: Floats, values: Floats, grid_s: Floats) -> list[int | None]:
    """Return the sum of the values in every step, or None in every step if they were not counted."""
    if np.isnan(values).all():
        return [None] * grid_s.size
    place = np.searchsorted(grid_s, times_s)
    inside = place < grid_s.size
    sums = np.bincount(place[inside], weights=np.nan_to_num(values[inside]), minlength=grid_s.size)
    return [round(value) for value in sums.tolist()]


def _total(values: Floats) -> int | None:
    return None if np.isnan(values).all() else round(float(np.nansum(values)))


def _most(values: Floats) -> int | None:
    return None if np.isnan(values).all() else round(float(np.nanmax(values)))


def _grown(values: Floats) -> int | None:
    """Return the increase of a counter, or None if it was reset."""
    known = values[~np.isnan(values)]
    return round(float(known[-1] - known[0])) if known.size and known[-1] >= known[0] else None


def discipline(document: Document) -> str:
    """Return the name in `tc` of the test host's queue, or ""."""
    given = document.table("EGRESS_INFO").get("qdiscs")
    names = [one.get("name") for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    known = [brief(name) for name in names if isinstance(name, str) and name not in _OF_DEVICES]
    return known[0] if known else ""


def queue_of(document: Document) -> str | None:
    """Return the test host's queue if scenarios support it, else None."""
    found = discipline(document)
    return found if found in catalogue.queues() else None
