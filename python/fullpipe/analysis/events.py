"""Changes during a run: rates and delays of links, routes, and media."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from fullpipe.runs import Run
from fullpipe.scenario.model.cells.cellular import Cellular
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.model.rerouting import Moving, reroutes_of
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.quantities import DURATION, RATE, natural, to_nanoseconds

MOST = 12
"""Most times of changes of one kind. If there are more, as on a recorded link, none of them is an event."""
SCHEMA = {"time_s": pl.Float64, "event": pl.String}


def events_of(run: Run) -> pl.DataFrame:
    """Return changes of links, reroutes and hand-overs in the order of time: time_s and event (words)."""
    found: dict[float, dict[str, None]] = {}
    for kind in (_of_links, _of_routes, _of_nodes):
        own = [(time_s, event) for time_s, event in kind(run) if 0 < time_s < run.meta.duration_s]
        if len({time_s for time_s, _ in own}) <= MOST:
            for time_s, event in own:
                found.setdefault(time_s, {})[event] = None
    rows = [(time_s, ", ".join(events)) for time_s, events in sorted(found.items())]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _of_links(run: Run) -> Iterator[tuple[float, str]]:
    """Yield changes of rates and delays, with the name of the link if several links change."""
    conditions = run.tables["conditions"]
    if conditions.filter(pl.col("time_s") > 0)["time_s"].n_unique() > MOST:
        return
    changes: list[tuple[float, str, str]] = []
    before: dict[str, dict[str, Any]] = {}
    for row in conditions.iter_rows(named=True):
        last = before.setdefault(row["link"], row)
        said = [text for key, text in _said(row).items() if row[key] != last[key]]
        changes += [(row["time_s"], row["link"], text) for text in said]
        before[row["link"]] = row
    are_several = len({link for _, link, _ in changes}) > 1
    for time_s, link, text in changes:
        yield time_s, f"{link} {text}" if are_several else text


def _said(row: dict[str, Any]) -> dict[str, str]:
    """Return the rate and the delay of a link in words."""
    rate, delay = row["rate_bps"], row["delay_s"]
    return {
        "rate_bps": "no rate" if rate is None else natural(RATE.format(round(rate))),
        "delay_s": "no delay" if delay is None else natural(DURATION.format(to_nanoseconds(delay))),
    }


def _of_routes(run: Run) -> Iterator[tuple[float, str]]:
    scenario, duration_s = run.scenario, run.meta.duration_s
    links = scenario.topology.links if isinstance(scenario.topology, Graph) else ()
    flows = zip(flow_names(scenario.flows), scenario.flows, strict=True)
    moving: list[tuple[str, Moving]] = [(names[0], flow) for names, flow in flows]
    for name, each in [*((str(link.name), link) for link in links), *moving]:
        for reroute in reroutes_of(each, duration_s):
            yield reroute.at_s, f"reroute of {name}"


def _of_nodes(run: Run) -> Iterator[tuple[float, str]]:
    """Yield moves to another medium, and hand-overs within cellular cells."""
    for move in run.scenario.mobility or ():
        yield move.at_s, f"{move.node} to {move.to}"
    for cell in run.scenario.cells or ():
        if isinstance(cell, Cellular):
            gaps = [(f"hand-over of {user.node}", gap) for user in cell.stations for gap in user.handovers]
            gaps += [(f"hand-over in {cell.name}", gap) for gap in cell.gaps]
            for event, gap in gaps:
                yield from _again(gap.at_s, gap.every_s, run, event)
            if satellites := cell.satellites:
                yield from _again(satellites.at_s, satellites.every_s, run, "satellite")


def _again(at_s: float, every_s: float | None, run: Run, event: str) -> Iterator[tuple[float, str]]:
    """Yield an event at a time and, if it is periodic, after each period."""
    count = 1 + int((run.meta.duration_s - at_s) / every_s) if every_s and at_s < run.meta.duration_s else 1
    yield from ((at_s + n * (every_s or 0.0), event) for n in range(count))
