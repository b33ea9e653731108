"""Runs and pages that the tests of reports share."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from fullpipe import Scenario, run
from fullpipe.report.content import (
    Block,
    Box,
    Boxes,
    Chart,
    Code,
    Column,
    Difference,
    Document,
    Download,
    Figure,
    Forest,
    Heat,
    Image,
    Items,
    Line,
    Lines,
    Look,
    Part,
    PathHop,
    PathNode,
    PathRoute,
    Section,
    Series,
    Table,
    Text,
    Trace,
)
from fullpipe.report.content import Path as DrawnPath
from fullpipe.runs import Run

Show = Callable[..., Any]
"""Opens a report in a browser and gives its page."""

HOSTILE = '</script><script>alert(1)</script><b title="x\' onload=alert(2)">\u202e\x1b[2J|*_`$'
"""A name that would end a script, open an element, turn the direction of text and clear a terminal."""


PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""
ROW = {
    "verdict": "worse",
    "kind": "flows",
    "of": "all flows",
    "entry": None,
    "metric": "goodput",
    "unit": "bit/s",
    "reference": 10e6,
    "variant": 9e6,
    "difference": -1e6,
    "interval": {"low": -1.5e6, "high": -0.5e6, "level": 0.95},
    "margin": {"relative": 0.03, "absolute": 0.0},
}
"""A row of a file that `check` wrote."""


def scenario(name: str = "line", **values: object) -> Scenario:
    """Two flows for two seconds."""
    made = Scenario(
        name=name,
        duration="2 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {
                "rate": "10 Mbit/s",
                "delay": "10 ms",
                "queue": {"kind": "drop_tail", "packets": 30},
            },
        },
        flows=[{"cca": "cubic", "start_jitter": "20 ms"}, {"cca": "bbr3", "start_jitter": "20 ms"}],
    )
    return made.with_values(values) if values else made


def runs_of(
    rates: Iterable[str] = ("5 Mbit/s", "10 Mbit/s", "20 Mbit/s"), seeds: int = 2, name: str = "line"
) -> list[Run]:
    """Every rate with every seed."""
    key = "topology.bottleneck.rate"
    return [
        run(scenario(name, **{key: rate}), seed) for rate in rates for seed in range(1, seeds + 1)
    ]  # fmt: skip


def copies(one: Run, count: int) -> list[Run]:
    """A run as if it had been run with many seeds."""
    return [
        replace(one, meta=one.meta.model_copy(update={"seed": seed})) for seed in range(1, count + 1)
    ]  # fmt: skip


def hostile_runs() -> list[Run]:
    """Runs as a stranger could have written them: names, versions and remarks are hostile."""
    made = []
    for one in runs_of(("10 Mbit/s",)):
        name = pl.col("flow").replace({"cubic-1": HOSTILE})
        tables = {**one.tables, **{n: one.tables[n].with_columns(name) for n in ("flows", "series")}}
        told = {
            "engine": one.meta.engine.model_copy(update={"name": HOSTILE, "version": HOSTILE}),
            "remarks": (HOSTILE,),
            "otherwise": {HOSTILE: HOSTILE},
            "versions": {"python": HOSTILE, HOSTILE: "1"},
        }
        made.append(replace(one, meta=one.meta.model_copy(update=told), tables=tables))
    return made


def hostile_page() -> Document:
    """A page with every kind of block, in which all text is hostile."""
    look = Look(0)
    charts: list[Chart] = [
        Lines(HOSTILE, HOSTILE, [Line(HOSTILE, look, [(0, 1, 0.5, 2), (1, 2, 1, 3)])]),
        Heat(HOSTILE, HOSTILE, [HOSTILE], [HOSTILE], [[1.0]], label=HOSTILE),
        Boxes(HOSTILE, [Box(HOSTILE, look, (0, 1, 2, 3, 4), 5)]),
        Forest(HOSTILE, [Difference(HOSTILE, 1.0, 0.5, 1.5, HOSTILE, HOSTILE)], has_margin=True),
        Series(HOSTILE, 0.0, 0.1, [Trace(HOSTILE, look, np.arange(100.0))]),
        Image(PNG),
    ]
    columns = [Column(HOSTILE), Column(HOSTILE, is_number=True), Column(HOSTILE, is_verdict=True)]
    blocks: list[Block] = [
        Text(HOSTILE),
        Items([HOSTILE]),
        Table(HOSTILE, columns, [[HOSTILE] * 3], HOSTILE),
        Table(HOSTILE, columns, [[HOSTILE] * 3], HOSTILE, is_folded=True),
        Code(HOSTILE, HOSTILE),
        Code(HOSTILE, HOSTILE, is_folded=True),
        Download(HOSTILE, "text/csv", HOSTILE, HOSTILE),
        *(Figure(HOSTILE, chart, HOSTILE) for chart in charts),
    ]
    nodes = [PathNode(HOSTILE, n != 1, n, 0.0) for n in range(3)]
    drawn = DrawnPath(
        nodes, [PathHop((0, 1)), PathHop((1, 2), True)], [PathRoute(HOSTILE, look, [0, 1, 2])], [HOSTILE]
    )
    part = Part(
        HOSTILE,
        [HOSTILE],
        warnings=[HOSTILE],
        scope=HOSTILE,
        command=HOSTILE,
        figure=Figure(HOSTILE, charts[0], HOSTILE),
        path=Figure(HOSTILE, drawn, HOSTILE),
        table=Table(HOSTILE, columns, [[HOSTILE] * 3]),
        details=[Section(HOSTILE, blocks, [Section(HOSTILE, [Text(HOSTILE)])])],
        repetition=[Code(HOSTILE)],
        data=[Download(HOSTILE, "text/csv", HOSTILE, HOSTILE)],
        heading=HOSTILE,
    )
    return Document(HOSTILE, [part, part], [(HOSTILE, HOSTILE)])


def page_with(*sections: Section) -> Document:
    """A page of one part with these details."""
    return Document("page", [Part("?", ["yes"], details=sections)])


def section(page: Document, heading: str) -> Section:
    """The details of that name."""
    return next(one for part in page.parts for one in part.details if one.heading == heading)


def sentences(page: Document) -> list[str]:
    """The conclusion, warnings, and what else is found, of all parts."""
    more = [one for part in page.parts for one in part.details if one.heading == "More findings"]
    told = [sentence for part in page.parts for sentence in (*part.conclusion, *part.warnings)]
    return told + [
        text for one in more for block in one.blocks if isinstance(block, Items) for text in block.items
    ]


def unfold(tab: Any) -> Any:
    """The page with all details open."""
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return tab


def drawn(tab: Any, figure: int = 0) -> Any:
    """The figure, once it is drawn; its details are opened."""
    unfold(tab)
    found = tab.locator("figure:has(script.series)").nth(figure)
    found.scroll_into_view_if_needed()
    found.locator("canvas").wait_for()
    return found


def tables(found: Section) -> list[Table]:
    """Its tables."""
    return [block for block in found.blocks if isinstance(block, Table)]


def figures_of(page: Document) -> list[Figure]:
    """The first figure, and those over points in the details."""
    first = page.parts[0].figure
    more = [one for one in page.parts[0].details if one.heading == "Figures"]
    inner = [block for one in more for block in one.blocks if isinstance(block, Figure)]
    return [*([first] if first else []), *inner]
