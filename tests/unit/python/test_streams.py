"""Streams of random numbers: those of a flow depend on its place, not on its name or algorithm."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullpipe
from fullpipe import Scenario, ScenarioError
from fullpipe.engines.native.plan import plan

POISSON = {"kind": "poisson", "load": 0.6, "sizes": "web_search"}


def scenario(*flows: dict[str, Any], **other: Any) -> Scenario:
    link = {"rate": "20 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 40}}
    topology = {"kind": "dumbbell", "bottleneck": link, **other.pop("topology", {})}
    given = {"duration": "10 s", "record": {"interval": "off"}, **other}
    return Scenario(name="x", topology=topology, flows=flows, **given)


def streams(of: Scenario) -> list[str]:
    return [flow["stream"] for flow in plan(of)["flows"]]


def offered(of: Scenario, *numbers: int) -> list[list[tuple[float, int]]]:
    """When every transfer of flows with these numbers begins, and how large it is."""
    run = fullpipe.run(of, seed=1)
    transfers = [run.transfers.filter(flow=run.flows["flow"][number]) for number in numbers]
    return [list(table.select("start_s", "bytes").iter_rows()) for table in transfers]


def test_another_algorithm_leaves_every_start_and_size_the_same() -> None:
    cubic = scenario({"cca": "cubic", "workload": POISSON}, duration="60 s")
    found, other = (offered(s, 0)[0] for s in (cubic, cubic.with_values({"flows.0.cca": "bbr3"})))
    assert len(found) > 20
    assert found == other


def test_results_of_two_algorithms_with_one_seed_are_paired() -> None:
    cubic = scenario({"cca": "cubic", "workload": POISSON}, duration="30 s")

    def score(of: Scenario, seed: int) -> float:
        """The mean logarithm of completion times."""
        times_s = fullpipe.run(of, seed=seed).transfers["fct_s"].drop_nulls()
        return float(np.mean([log(time_s) for time_s in times_s]))

    pair = (cubic, cubic.with_values({"flows.0.cca": "reno"}))
    results = [[score(of, seed) for seed in range(1, 21)] for of in pair]
    assert np.corrcoef(results)[0, 1] > 0.9


def test_an_entry_at_the_end_changes_nobody_elses_draws() -> None:
    flows = [
        {"cca": "cubic", "workload": POISSON, "start_jitter": "1 s"},
        {"cca": "reno", "workload": POISSON},
    ]
    longer = scenario(*flows, {"cca": "cubic", "workload": POISSON, "count": 2})
    assert offered(scenario(*flows), 0, 1) == offered(longer, 0, 1)


def test_a_name_is_a_label_and_no_more() -> None:
    flow = {"cca": "bbr1", "start_jitter": "1 s", "count": 2}
    named, unnamed = (fullpipe.run(scenario(f), seed=3).flows for f in ({**flow, "name": "a"}, flow))
    assert named["flow"].to_list() == ["a-1", "a-2"]
    assert named.drop("flow").equals(unnamed.drop("flow"))


def test_a_stream_is_the_place_of_the_entry_and_the_number_in_it() -> None:
    of = scenario({"cca": "reno"}, {"cca": "reno", "count": 2}, {"cca": "reno", "count": 2, "stream": "web"})
    assert streams(of) == ["#0/0", "#1/0", "#1/1", "web/0", "web/1"]


def test_flows_draw_apart() -> None:
    starts_s = fullpipe.run(scenario({"cca": "reno", "start_jitter": "1 s", "count": 50})).flows["start_s"]
    assert starts_s.n_unique() == 50


def test_an_entry_with_a_stream_of_its_own_keeps_its_draws_wherever_it_stands() -> None:
    own = {"cca": "cubic", "workload": POISSON, "stream": "web"}
    behind = scenario({"cca": "cubic", "size": "1 kB"}, own)
    assert offered(scenario(own), 0) == offered(behind, 1)


def test_two_entries_with_one_stream_are_refused() -> None:
    own = {"cca": "cubic", "stream": "web"}
    with pytest.raises(ScenarioError) as error:
        scenario({"cca": "reno"}, own, own)
    assert error.value.problems == ('flows[2].stream: "web" is that of flows[1]; choose another',)


@pytest.mark.parametrize("stream", ["#0", "web/0"])
def test_no_stream_can_be_written_that_is_that_of_a_place(stream: str) -> None:
    with pytest.raises(ScenarioError, match="stream"):
        scenario({"cca": "cubic", "stream": stream})


def test_a_stream_is_left_out_unless_given() -> None:
    assert "stream" not in scenario({"cca": "cubic"}).to_toml()
    assert 'stream = "web"' in scenario({"cca": "cubic", "stream": "web"}).to_toml()


def test_chance_at_the_hosts_of_a_flow_hangs_on_its_place() -> None:
    access = {"access": {"rate": "50 Mbit/s", "queue": {"kind": "pie"}}}

    def links(cca: str) -> tuple[list[str], list[str]]:
        found = plan(scenario({"cca": cca}, topology=access))["links"]
        return [link["name"] for link in found], [link["stream"] for link in found]

    (cubic_names, cubic), (reno_names, reno) = links("cubic"), links("reno")
    assert cubic == reno
    assert "#0/0-sender" in cubic
    assert cubic_names != reno_names


def test_the_periods_of_an_application_do_not_hang_on_its_algorithm() -> None:
    bursts = {"kind": "on_off", "rate": "1 Mbit/s", "on": "300 ms", "off": "300 ms", "periods": "exponential"}

    def sends(cca: str) -> pl.Series:
        of = scenario({"cca": cca, "workload": bursts}, record={"interval": "10 ms"})
        return fullpipe.run(of, seed=2).series["goodput_bps"] > 0

    assert sends("cubic").equals(sends("reno"))
    assert 300 < sends("reno").sum() < 700
