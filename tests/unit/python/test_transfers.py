"""Workloads that open and close connections as they like: what one may write, and what it gives."""

import json
import subprocess
import sys
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Scenario, ScenarioError
from fullpipe.engines.native.plan import plan
from fullpipe.scenario.model.workloads.distributions import DATA_MINING, WEB_SEARCH, Cdf, Pareto


def scenario(workload: dict[str, Any], count: int = 1, **other: Any) -> Scenario:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 50}}
    return Scenario(
        name="x",
        topology={"kind": "dumbbell", "bottleneck": link},
        flows=[{"cca": "cubic", "workload": workload, "count": count}],
        **{"duration": "10 s", "record": {"interval": "off"}, **other},
    )


def planned(workload: dict[str, Any], count: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = plan(scenario(workload, count))["flows"][0]["workload"]
    return found


def refusal(workload: dict[str, Any]) -> str:
    with pytest.raises(ScenarioError) as error:
        scenario(workload)
    return "\n".join(error.value.problems)


POISSON = {"kind": "poisson", "load": 0.5, "sizes": "14480 B"}
ASKING = {"kind": "request_response", "response": "20 kB", "think": "10 ms"}
WEB = {"kind": "web", "objects": [2, 5], "think": "100 ms"}
VIDEO = {"kind": "video", "bitrates": ["500 kbit/s", "2 Mbit/s"], "rule": "buffer"}


def test_a_load_counts_every_header() -> None:
    # Ten segments of 1514 B at half of 10 Mbit/s.
    assert planned(POISSON)["interval_ns"] == pytest.approx(15_140 * 8 / 5e6 * 1e9)


def test_the_flows_of_an_entry_share_its_load() -> None:
    assert planned(POISSON, count=4)["interval_ns"] == pytest.approx(4 * planned(POISSON)["interval_ns"])


def test_a_load_may_be_of_another_rate() -> None:
    assert planned({**POISSON, "of": "5 Mbit/s"})["interval_ns"] == pytest.approx(
        2 * planned(POISSON)["interval_ns"]
    )


def test_the_load_asked_for_is_offered() -> None:
    run = fullpipe.run(
        scenario({**POISSON, "sizes": {"kind": "exponential", "mean": "10 kB"}}, duration="100 s"), seed=1
    )
    assert run.links_summary["utilisation"][0] == pytest.approx(0.5, abs=0.03)


def test_a_size_stands_for_a_constant_and_a_name_for_a_published_distribution() -> None:
    assert planned({**POISSON, "sizes": "20 kB"})["sizes"] == {"kind": "constant", "value": 20_000}
    assert planned({**POISSON, "sizes": "web_search"})["sizes"]["points"] == [list(p) for p in WEB_SEARCH]


@pytest.mark.parametrize("points", [WEB_SEARCH, DATA_MINING])
def test_published_distributions_rise_to_one(points: list[tuple[int, float]]) -> None:
    assert list(points) == sorted(points)
    assert points[-1][1] == 1.0


def test_the_mean_of_points_is_that_of_straight_lines() -> None:
    sizes = Cdf(points=[("1 kB", 0.5), ("3 kB", 1.0)])
    assert sizes.mean == pytest.approx(0.5 * 1_000 + 0.5 * 2_000)


def test_the_mean_of_a_pareto_is_that_of_its_density() -> None:
    assert Pareto(shape=2.0, min="1 kB", max="10 kB").mean == pytest.approx(2_000 * 0.9 / 0.99)
    assert Pareto(shape=1.0, min="1 kB", max="10 kB").mean == pytest.approx(2_558.4, rel=1e-4)


@pytest.mark.parametrize("workload", [POISSON, ASKING, WEB, VIDEO])
def test_toml_out_and_in_is_the_same(workload: dict[str, Any]) -> None:
    written = scenario(workload)
    assert Scenario.from_toml(written.to_toml()) == written


@pytest.mark.parametrize("workload", [POISSON, ASKING, WEB, VIDEO])
def test_the_same_seed_gives_the_same_transfers(workload: dict[str, Any]) -> None:
    first, again = (fullpipe.run(scenario(workload), seed=4).transfers for _ in range(2))
    assert first.equals(again)
    assert first.height > 1


def test_objects_of_a_page_are_drawn_between_their_bounds() -> None:
    transfers = fullpipe.run(scenario(WEB, duration="60 s"), seed=1).transfers
    pages = transfers.group_by("page").len().sort("page")["len"].to_list()[:-1]
    assert set(pages) == {2, 3, 4, 5}


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        ({"kind": "poisson", "sizes": "1 kB"}, 'workload: give one of interval = "10 ms" and load = 0.6'),
        ({**POISSON, "interval": "1 ms"}, 'workload: give one of interval = "10 ms" and load = 0.6'),
        ({**POISSON, "load": 0.0}, "flows[0].workload.load: must be more than 0"),
        ({**POISSON, "sizes": "0 B"}, "must be more than 0"),
        ({**POISSON, "sizes": {"kind": "parreto"}}, 'did you mean "pareto"?'),
        (
            {**POISSON, "sizes": {"kind": "cdf", "points": [["1 kB", 0.5]]}},
            "points: the last share is 0.5; it must be 1.0",
        ),
        ({"kind": "poisson", "interval": "1 us", "sizes": "1 kB"}, ""),
        ({"kind": "poisson", "interval": "1 ns", "sizes": "1 kB"}, "arrivals are more than 10,000,000"),
        ({**WEB, "objects": [5, 2]}, "objects: 2 is less than 5; write the smaller number first"),
        ({**WEB, "objects": 0}, "must be at least 1"),
        ({**VIDEO, "bitrates": ["2 Mbit/s", "1 Mbit/s"]}, "they must rise"),
        ({**VIDEO, "chunk": "40 s"}, "chunk: 40 s do not fit into the buffer, 30.0 s"),
        ({**VIDEO, "rule": "bolla"}, "workload.rule"),
    ],
)
def test_mistakes_are_refused(workload: dict[str, Any], message: str) -> None:
    if message:
        assert message in refusal(workload)
    else:
        scenario(workload)


def test_a_workload_says_itself_how_much_is_sent() -> None:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 50}}
    with pytest.raises(ScenarioError, match="web defines what is sent"):
        Scenario(
            name="x",
            duration="1 s",
            topology={"kind": "dumbbell", "bottleneck": link},
            flows=[{"cca": "cubic", "workload": WEB, "size": "1 MB"}],
        )


def test_summaries_have_percentiles_of_what_began_after_the_warm_up() -> None:
    run = fullpipe.run(scenario(POISSON, warmup="5 s"), seed=1)
    late = run.transfers.filter(pl.col("start_s") >= 5)
    found = run.summary()["transfers"]
    assert found["count"] == late.height < run.transfers.height
    assert found["finished"] == late["fct_s"].count()
    assert found["p50_s"] == late["fct_s"].quantile(0.5, "linear")
    assert found["p50_s"] <= found["p95_s"] <= found["p99_s"]


def test_a_run_without_transfers_has_no_percentiles() -> None:
    assert fullpipe.run(scenario({"kind": "bulk"}, duration="1 s"), seed=1).summary()["transfers"] is None


def test_a_video_is_in_the_summary() -> None:
    run = fullpipe.run(scenario(VIDEO, duration="60 s"), seed=1)
    [video] = run.summary()["videos"]
    assert video["stalls"] == 0
    assert video["bitrate_bps"] > 500_000


def test_a_hundred_readers_of_web_pages() -> None:
    smaller = Scenario.named("web-1000").with_values(
        {
            "flows.0.count": 100,
            "topology.bottleneck.rate": "100 Mbit/s",
            "duration": "20 s",
            "record.interval": "off",
        }
    )
    run = fullpipe.run(smaller, seed=1)
    assert run.links_summary["utilisation"][0] == pytest.approx(0.6, abs=0.15)
    done = run.transfers.drop_nulls("fct_s")
    assert (done["fct_s"] >= done["ideal_s"]).all()
    assert (done["delivered_bytes"] == done["bytes"]).all()
    delivered = run.transfers.group_by("flow", maintain_order=True).agg(pl.col("delivered_bytes").sum())
    assert delivered.height == 100


MEMORY = """
import json, sys
from pathlib import Path
import fullpipe
from fullpipe import Scenario
run = fullpipe.run(Scenario(**json.loads(sys.argv[1])), seed=1)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps([int(status["VmHWM"].split()[0]), run.flows.height, run.transfers.height]))
"""
"""The most memory of a process, in kilobytes: that of its own, where `ru_maxrss` begins with its parent's."""


@pytest.mark.parametrize(
    ("flow", "flows", "transfers"),
    [
        ({"count": 10_000, "start_jitter": "1 s"}, 10_000, 0),
        ({"workload": {"kind": "poisson", "interval": "100 us", "sizes": "4 kB"}}, 1, 10_000),
    ],
)
def test_ten_thousand_flows_fit_into_a_gigabyte(flow: dict[str, Any], flows: int, transfers: int) -> None:
    link = {"rate": "1 Gbit/s", "delay": "20 ms", "queue": {"kind": "drop_tail", "size": "1 bdp"}}
    described = {
        "name": "x",
        "duration": "2 s",
        "topology": {"kind": "dumbbell", "bottleneck": link},
        "flows": [{"cca": "cubic", **flow}],
        "record": {"interval": "off"},
    }
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, json.dumps(described)], capture_output=True, text=True, check=True
    )
    kilobytes, height, rows = json.loads(done.stdout)
    assert height == flows
    assert rows >= transfers
    assert kilobytes < 1_000_000_000 / 1024


@pytest.mark.parametrize(("keep", "connections"), [(False, 41), (True, 1)])
def test_periodic_transfers_begin_at_every_interval(keep: bool, connections: int) -> None:
    workload = {"kind": "periodic", "sizes": "20 kB", "interval": "250 ms", "keep": keep}
    transfers = fullpipe.run(scenario(workload)).transfers
    starts = transfers["start_s"].to_list()
    # The last begins as the run of 10 s ends.
    assert starts == pytest.approx([n * 0.25 for n in range(41)])
    assert transfers["connection"].n_unique() == connections
    assert transfers["bytes"].unique().to_list() == [20_000]


def test_a_periodic_transfer_waits_on_a_connection_that_is_busy() -> None:
    # 100 kB need at least 80 ms at 10 Mbit/s, and are due every 50 ms.
    workload = {"kind": "periodic", "sizes": "100 kB", "interval": "50 ms", "keep": True}
    transfers = fullpipe.run(scenario(workload)).transfers.drop_nulls("fct_s")
    assert transfers["start_s"].to_list()[1:] == pytest.approx(transfers["end_s"].to_list()[:-1], abs=0.05)
    assert (transfers["start_s"].diff().drop_nulls() > 0.08).all()


def test_periodic_transfers_may_not_come_too_often() -> None:
    workload = {"kind": "periodic", "sizes": "1 kB", "interval": "1 us"}
    with pytest.raises(ScenarioError, match="20,000,000 arrivals are more than 10,000,000"):
        scenario(workload, duration="20 s")
