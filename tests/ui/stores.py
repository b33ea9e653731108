"""Stores for tests of the page: one of very many runs, and one with hostile names."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import polars as pl

from fullpipe import Run, Scenario, run
from fullpipe.runs import Store
from fullpipe.runs.encoding import encoded
from fullpipe.runs.entries import LISTED, RUNS, schema_of
from fullpipe.runs.segments import add
from fullpipe.runs.writer import Writer
from tests.report.pages import HOSTILE
from tests.ui.conftest import what_if

RATE = "topology.bottleneck.rate"
SEEDS = 100


def many(root: Path, runs: int) -> None:
    """A store whose index has `runs` runs with a call, with `SEEDS` seeds per scenario. Only folders of
    scenarios are there: what is listed is not opened."""
    flows = [{"cca": "cubic"}, {"name": "call", "workload": "voip"}]
    one = run(Scenario(**what_if(duration="2 s", flows=flows)))
    spec, points = json.dumps(one.meta.scenario), runs // SEEDS
    digests = [f"{point:016x}" for point in range(points)]
    listed = []
    for digest in digests:
        (root / digest).mkdir(parents=True)
        listed.append((digest, (root / digest).stat().st_mtime_ns, 1))
    numbers = pl.int_range(runs, eager=True)
    point = numbers // SEEDS
    index = pl.DataFrame({"id": numbers}).with_columns(
        pl.Series("digest", digests).gather(point),
        engine=pl.lit("native"),
        seed=numbers % SEEDS + 1,
        version=pl.lit("1"),
        model_version=pl.lit("1"),
        scenario=pl.lit("two"),
        point=pl.lit(f'{{"{RATE}": "') + (10_000 + point).cast(pl.String) + pl.lit(' kbit/s"}'),
        spec=pl.lit(spec),
        duration_s=pl.lit(2.0),
        wall_s=pl.lit(0.1),
        cpu_s=pl.lit(0.1),
        data_packets=pl.lit(1_000),
        started=pl.lit("2026-01-01T00:00:00+00:00"),
        content=pl.lit(""),
        files=pl.lit("{}"),
        bytes=pl.lit(10_000),
        changed_ns=pl.lit(1),
        noted_ns=pl.lit(1),
        gone=pl.lit(False),
    )
    tables = {
        "runs": index.select(list(RUNS)).cast(schema_of(RUNS)),
        "listed": pl.DataFrame(listed, schema_of(LISTED), orient="row"),
        "flows": index.select("id").join(one.flows, how="cross"),
        "links_summary": index.select("id").join(one.links_summary, how="cross"),
    }
    with closing(Writer(root)) as writer:
        add(root, writer.open(), {name: encoded(table) for name, table in tables.items()})


def hostile(root: Path) -> list[Run]:
    """Runs as a stranger could have written them: names of flows, remarks and versions are hostile, and one
    name is very long."""
    made = []
    for seed, name in enumerate((HOSTILE, "<img src=x onerror=alert(3)>", "x" * 10_000), 1):
        one = run(Scenario(**what_if(duration="2 s")), seed)
        renamed = pl.col("flow").replace({"cubic-1": name})
        tables = {**one.tables, **{n: one.tables[n].with_columns(renamed) for n in ("flows", "series")}}
        told = {
            "remarks": (name,),
            "otherwise": {name: name},
            "point": {name[:300]: name},
        }
        made.append(Store(root).save(replace(one, meta=one.meta.model_copy(update=told), tables=tables)))
    return made
