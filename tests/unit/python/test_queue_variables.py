"""Queues publish their variables as algorithms do, and nothing but the table `variables` changes by it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, plots
from fullpipe.analysis import metrics
from fullpipe.scenario.checks.sizes import MAX_QUEUE_VARIABLES

QUEUES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "codel": ({"kind": "codel"}, {"count", "dropping", "drop_next"}),
    "pie": ({"kind": "pie"}, {"probability", "delay", "burst_left"}),
    "red": ({"kind": "red"}, {"average", "probability", "max_probability"}),
    "dualpi2": (
        {"kind": "dualpi2"},
        {"base_probability", "classic_probability", "low_latency_probability", "delay"},
    ),
    "fq": ({"kind": "fq"}, {"active_flows", "throttled_flows"}),
    "fq_codel": ({"kind": "fq_codel"}, {"new_flows", "active_flows", "dropping_flows"}),
    "fq_pie": ({"kind": "fq_pie"}, {"new_flows", "active_flows"}),
    "cake": ({"kind": "cake"}, {"sparse_flows", "bulk_flows", "active_flows"}),
    "tbf": ({"kind": "tbf", "rate_bps": 5_000_000, "burst_bytes": 20_000}, {"tokens"}),
    "police": ({"kind": "police", "rate_bps": 5_000_000, "burst_bytes": 20_000}, {"tokens"}),
    "step": ({"kind": "step"}, set()),
    "drop_tail": ({"kind": "drop_tail", "packets": 50}, set()),
}


def made(queue: dict[str, Any], *, variables: bool = True) -> Run:
    return fullpipe.run(
        Scenario(
            name="queues",
            duration="4 s",
            topology={
                "kind": "dumbbell",
                "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": queue},
                "reverse": {"delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 1000}},
            },
            flows=[{"cca": "cubic"}, {"cca": "reno"}],
            record={"interval": "50 ms", "variables": variables},
        )
    )


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {name: made(queue) for name, (queue, _) in QUEUES.items()}


def of_queue(run: Run) -> pl.DataFrame:
    return run.variables.filter(pl.col("link") == "bottleneck")


def values(run: Run, name: str) -> pl.Series:
    return of_queue(run).filter(pl.col("name") == name)["value"]


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_publishes_its_variables_at_every_sample(runs: dict[str, Run], name: str) -> None:
    rows, expected = of_queue(runs[name]), QUEUES[name][1]
    assert set(rows["name"]) == expected
    assert len(expected) <= MAX_QUEUE_VARIABLES
    assert rows["value"].null_count() == 0
    times = runs[name].links["time_s"].unique().sort()
    assert not expected or rows["time_s"].unique().sort().equals(times)


@pytest.mark.parametrize("name", QUEUES)
def test_to_record_variables_changes_no_other_table(runs: dict[str, Run], name: str) -> None:
    plain = made(QUEUES[name][0], variables=False)
    others = [table for table in plain.tables if table != "variables"]
    assert [table for table in others if not plain.tables[table].equals(runs[name].tables[table])] == []


def test_a_row_is_of_a_flow_or_of_a_link(runs: dict[str, Run]) -> None:
    rows = runs["pie"].variables
    assert (rows["flow"].is_null() != rows["link"].is_null()).all()
    assert set(rows["flow"].drop_nulls()) == {"cubic-1", "reno-1"}


def test_dualpi2_couples_its_probabilities(runs: dict[str, Run]) -> None:
    """RFC 9332, section 2.4: p_C = p'^2 and p_CL = k p' with k = 2."""
    base = values(runs["dualpi2"], "base_probability")
    assert base.max() > 0  # type: ignore[operator]
    assert (values(runs["dualpi2"], "classic_probability") - base**2).abs().max() == 0
    assert (values(runs["dualpi2"], "low_latency_probability") - (2 * base).clip(0, 1)).abs().max() == 0


def test_the_delay_that_pie_estimates_is_that_of_its_queue(runs: dict[str, Run]) -> None:
    """By time stamps: the wait of a packet that has left, as the mean wait of the interval is of all."""
    links = runs["pie"].links.filter(pl.col("link") == "bottleneck")
    gap_s = (values(runs["pie"], "delay") - links["sojourn_s"]).abs().drop_nulls()
    assert gap_s.median() < 0.01  # type: ignore[operator]


def test_codel_counts_its_drops(runs: dict[str, Run]) -> None:
    dropping, count = values(runs["codel"], "dropping"), values(runs["codel"], "count")
    dropped = runs["codel"].links.filter(pl.col("link") == "bottleneck")["dropped_packets"].sum()
    assert 0 < count.max() <= dropped  # type: ignore[operator]
    assert values(runs["codel"], "drop_next").len() == dropping.sum() > 0


@pytest.mark.parametrize("name", ["tbf", "police"])
def test_a_bucket_holds_no_more_than_its_burst(runs: dict[str, Run], name: str) -> None:
    tokens = values(runs[name], "tokens")
    assert 0 <= tokens.min() < tokens.max() <= 20_000  # type: ignore[operator]


def test_a_fair_queue_sees_the_flows_that_wait(runs: dict[str, Run]) -> None:
    assert all(values(runs[name], "active_flows").max() == 2 for name in ("fq", "fq_codel", "fq_pie", "cake"))


def test_variables_of_flows_are_read_by_their_names_as_before(runs: dict[str, Run]) -> None:
    assert metrics.numbers(runs["pie"].variables, "cubic-1", "cwnd").height > 0
    assert metrics.states(runs["pie"].variables, "cubic-1").height > 0


def test_a_figure_shows_queues_beside_flows(runs: dict[str, Run]) -> None:
    _, drawn = plots.variables({"": runs["pie"].tables}, ["cwnd", "probability", "state"])
    actors = {panel: set(rows["actor"]) for (panel,), rows in drawn.group_by("panel")}
    assert actors["cwnd"] == actors["state"] == {"cubic-1", "reno-1"}
    assert actors["probability"] == {"bottleneck"}
