"""Several bottlenecks: in a row and side by side, and which route a flow takes through them."""

import json
from collections.abc import Callable
from typing import Any

from fullpipe import Scenario, run
from fullpipe.scenario.traces import read_mahimahi
from scripts.cellular_traces import FOLDER, TRACES


def goodputs(scenario: Scenario, seed: int = 1) -> dict[str, float]:
    found = run(scenario.with_values({"record.interval": "off"}), seed=seed)
    return dict(zip(found.flows["flow"], found.flows["goodput_bps"], strict=True))


def test_fair_queues_make_a_parking_lot_fair_between_the_largest_and_the_smallest() -> None:
    """Max-min fairness: the long flow gets half of every link, less what loss at three places costs it."""
    lot = Scenario.named("parking-lot")
    queues = {f"topology.links.{i}.queue": {"kind": "fq_codel"} for i in range(3)}
    found = goodputs(lot.with_values(queues))
    payload_bps = 20e6 * 1448 / 1514
    assert 0.42 < found["long"] / payload_bps < 0.52
    for name in ("first", "second", "third"):
        assert 0.42 < found[name] / payload_bps < 0.55


def test_fifo_queues_give_the_long_flow_less_than_proportional_fairness() -> None:
    found = goodputs(Scenario.named("parking-lot"))
    payload_bps = 20e6 * 1448 / 1514
    assert 0.02 < found["long"] / payload_bps < 0.25
    for name in ("first", "second", "third"):
        assert 0.9 < (found["long"] + found[name]) / payload_bps < 1.001


def test_flows_on_parallel_links_do_not_meet() -> None:
    link: dict[str, Any] = {
        "from": "a", "to": "b", "delay": "10 ms", "duplex": True,
        "queue": {"kind": "drop_tail", "size": "1 bdp"},
    }  # fmt: skip
    links = [{**link, "name": "north", "rate": "30 Mbit/s"}, {**link, "name": "south", "rate": "10 Mbit/s"}]
    flow = {"cca": "cubic", "from": "a", "to": "b"}
    scenario = Scenario(
        name="parallel",
        duration="20 s",
        warmup="4 s",
        topology={"kind": "graph", "nodes": ["a", "b"], "links": links},
        flows=[{**flow, "name": name, "via": [name]} for name in ("north", "south")],
    )
    found = goodputs(scenario)
    for name, rate_bps in (("north", 30e6), ("south", 10e6)):
        assert 0.97 < found[name] / (rate_bps * 1448 / 1514) < 1.001


def test_show_says_which_routes_flows_take(fullpipe: Callable[..., Any]) -> None:
    assert fullpipe("show", "parking-lot", "--paths").stdout.splitlines()[:3] == [
        "long: base RTT 60 ms",
        "  data  a-b > b-c > c-d",
        "  ACKs  c-d-reverse > b-c-reverse > a-b-reverse",
    ]
    lines = fullpipe("show", "sologon2025-routes", "--paths").stdout.splitlines()
    assert lines[1:4] == [
        "  data  s30-a > fast",
        "  ACKs  fast-reverse > s30-a-reverse",
        "  from 10 s: data  s30-a > slow",
    ]


def test_a_program_gets_every_route_of_every_flow(fullpipe: Callable[..., Any]) -> None:
    found = json.loads(fullpipe("show", "sologon2025-routes", "--paths", "--json").stdout)["30 ms"]
    assert (found["base_rtt_s"], found["data"]) == (0.06, ["s30-a", "fast"])
    assert found["later"][0] == {"at_s": 10.0, "data": ["s30-a", "slow"], "acks": None}


def test_the_traces_that_come_with_fullpipe_are_as_their_script_makes_them() -> None:
    for name, trace in TRACES.items():
        assert read_mahimahi(FOLDER / name).times_ms.tolist() == trace.times_ms.tolist()


def test_a_scenario_with_a_trace_can_be_started_from(fullpipe: Callable[..., Any], tmp_path: Any) -> None:
    (tmp_path / "mine.toml").write_text(fullpipe("show", "cellular").stdout, encoding="utf-8")
    assert Scenario.from_file(tmp_path / "mine.toml").digest == Scenario.named("cellular").digest
