"""Many runs as one table of values."""

from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Scenario, sweeps
from fullpipe.analysis.values import values_of


def table(sweep: dict[str, Any], metrics: list[str] | None = None) -> pl.DataFrame:
    scenario = Scenario(
        name="values",
        duration="2 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": "codel"}},
        flows=[{"cca": "cubic", "count": 2}, {"cca": "reno"}],
        record={"interval": "off"},
        sweep=sweep,
    )
    jobs = sweeps.jobs(scenario, [1, 2])
    return values_of(zip((job.point for job in jobs), sweeps.run(jobs), strict=True), metrics)


def test_a_row_is_of_a_run_a_group_and_a_metric() -> None:
    found = table({"flows.0.cca": ["cubic", "bbr1"]}, ["goodput", "dropped"])
    flows = found.filter(kind="flows", metric="goodput")
    assert flows.select("flows.0.cca", "seed", "entry", "of").rows()[:3] == [
        ("cubic", 1, 0, "cubic"),
        ("cubic", 1, 1, "reno-1"),
        ("cubic", 1, None, "all flows"),
    ]
    assert flows.height == 2 * 2 * 3
    assert found.filter(kind="link")["of"].unique().to_list() == ["bottleneck"]


@pytest.mark.parametrize(
    ("path", "values", "column"),
    [
        ("flows.0.count", [1, 2], pl.Int64),
        ("topology.bottleneck.queue", ["pie", {"kind": "drop_tail", "packets": 9}], pl.String),
        ("topology.bottleneck.rate", ["5 Mbit/s", "6 Mbit/s"], pl.String),
    ],
)
def test_a_swept_path_is_a_column_of_its_kind(path: str, values: list[Any], column: Any) -> None:
    assert table({path: values}, ["goodput"]).schema[path] == column


def test_what_several_kinds_of_values_are_is_text() -> None:
    column = table({"topology.bottleneck.queue": ["pie", {"kind": "drop_tail", "packets": 9}]}, ["goodput"])
    assert column["topology.bottleneck.queue"].unique(maintain_order=True).to_list() == ["pie", "drop_tail 9"]


@pytest.mark.parametrize("workload", ["ping", {"kind": "probe"}])
def test_pings_and_probes_have_no_rates_in_tables_and_families(workload: Any) -> None:
    scenario = Scenario(
        name="values",
        duration="2 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}},
        flows=[{"cca": "cubic", "name": "mine"}, {"workload": workload, "name": "echo"}],
        record={"interval": "off"},
    )
    made = values_of([({}, fullpipe.run(scenario, seed=1))])
    rates = {"goodput", "wire", "share", "equal_share", "share_ratio", "power"}
    of = {name: {*made.filter(of=name)["metric"]} for name in ("mine", "echo", "all flows")}
    assert rates <= of["mine"]
    assert rates <= of["all flows"]
    assert not rates & of["echo"]
    assert {"rtt_mean", "owd_mean", "latency_increase"} <= of["echo"]


def test_of_no_runs_there_are_no_values() -> None:
    assert values_of([]).is_empty()
