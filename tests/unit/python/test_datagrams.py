"""Flows of datagrams: what a scenario says of them, and what becomes of it."""

from typing import Any

import pytest

import fullpipe
from fullpipe import Run, Scenario, ScenarioError, metrics
from fullpipe.engines.native.plan import plan


def scenario(*flows: dict[str, Any], **more: Any) -> Scenario:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 100}}
    topology = {"kind": "dumbbell", "bottleneck": link}
    return Scenario(**{"name": "x", "duration": "2 s", "topology": topology, "flows": list(flows), **more})


def planned(workload: dict[str, Any], **flow: Any) -> dict[str, Any]:
    """The plan of a workload, without what is the same of all."""
    found: dict[str, Any] = plan(scenario({"workload": workload, **flow}))["flows"][0]["workload"]
    return found


def problem(**flow: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        scenario(flow)
    return "\n".join(error.value.problems)


def test_udp_spreads_its_rate_of_payload_over_datagrams() -> None:
    found = planned({"kind": "udp", "rate": "2 Mbit/s", "size": "1000 B"})
    assert (found["interval_ns"], found["payload_bytes"], found["overhead_bytes"]) == (4_000_000, 1000, 42)


def test_a_call_is_g711_over_rtp_unless_it_says_otherwise() -> None:
    found = planned({"kind": "voip"})
    assert (found["interval_ns"], found["payload_bytes"], found["overhead_bytes"]) == (20_000_000, 172, 42)


def test_speech_fits_a_jumbo_frame_with_its_header() -> None:
    assert planned({"kind": "voip", "payload": "8988 B"})["payload_bytes"] == 9000
    assert "workload.payload: must be at most 8988 B" in problem(
        workload={"kind": "voip", "payload": "8989 B"}
    )


def test_a_ping_is_icmp_and_comes_back() -> None:
    found = planned({"kind": "ping", "interval": "100 ms", "size": "24 B"})
    assert (found["protocol"], found["echo"], found["payload_bytes"]) == ("icmp", True, 24)


def test_a_probe_may_go_one_way() -> None:
    assert [planned({"kind": "probe", "round_trip": there})["echo"] for there in (True, False)] == [
        True,
        False,
    ]


def test_periods_are_planned_in_nanoseconds() -> None:
    udp = {"kind": "udp", "rate": "1 Mbit/s", "on": "1 s", "off": "500 ms", "periods": "exponential"}
    assert planned(udp)["periods"] == {"on_ns": 10**9, "off_ns": 500_000_000, "exponential": True}


def test_the_overhead_of_the_link_counts() -> None:
    assert planned({"kind": "ping"}, tcp={"link_overhead": "18 B"})["overhead_bytes"] == 46


def test_a_flow_of_datagrams_is_called_after_its_workload() -> None:
    made = scenario({"workload": {"kind": "ping"}, "count": 2}, {"workload": {"kind": "voip"}})
    assert [flow["name"] for flow in plan(made)["flows"]] == ["ping-1", "ping-2", "voip-1"]


def test_toml_out_and_in_is_the_same() -> None:
    made = scenario({"workload": {"kind": "udp", "rate": "2 Mbit/s", "on": "1 s", "off": "2 s"}})
    assert Scenario.from_toml(made.to_toml()) == made


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({}, 'flows[0].cca: missing, as in cca = "cubic"'),
        ({"cca": "cubic", "workload": {"kind": "ping"}}, "flows[0].cca: ping has no congestion control"),
        ({"workload": {"kind": "bulk"}}, "flows[0].cca: missing"),
        ({"workload": {"kind": "pong"}}, 'flows[0].workload.kind: unknown value "pong"'),
        ({"workload": {"kind": "ping"}, "size": "1 MB"}, "flows[0].size: ping has no end of its own"),
        (
            {"workload": {"kind": "ping"}, "application": []},
            "application: ping defines when it sends",
        ),
        ({"workload": {"kind": "udp"}}, "flows[0].workload.rate: missing"),
        ({"workload": {"kind": "udp", "rate": "1 Mbit/s", "on": "1 s"}}, "on and off belong together"),
        ({"workload": {"kind": "ping", "interval": "0 s"}}, "flows[0].workload.interval: must be at least"),
        (
            {"workload": {"kind": "ping", "interval": "1 us"}, "count": 100},
            "200,000,000 probes are more than",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(flow: dict[str, Any], message: str) -> None:
    assert message in problem(**flow)


@pytest.fixture(scope="module")
def run() -> Run:
    """A ping, a call and UDP beside a connection, with a capture."""
    return fullpipe.run(
        scenario(
            {"cca": "cubic", "name": "tcp"},
            {"workload": {"kind": "ping", "interval": "100 ms"}, "name": "ping"},
            {"workload": {"kind": "voip"}, "name": "call"},
            {"workload": {"kind": "udp", "rate": "1 Mbit/s"}, "name": "udp"},
            record={"packets": ["sender"]},
        ),
        seed=1,
    )


def column(run: Run, name: str) -> list[Any]:
    return run.flows[name].to_list()


def test_a_flow_says_what_carries_it(run: Run) -> None:
    assert column(run, "protocol") == ["tcp", "icmp", "udp", "udp"]
    assert column(run, "cca") == ["cubic", None, None, None]


def test_what_was_not_measured_is_null(run: Run) -> None:
    known = [[value is not None for value in column(run, name)] for name in ("rtt_p50_s", "jitter_s")]
    assert known == [[True, True, False, False], [False, True, True, True]]
    assert all(value is not None for value in column(run, "owd_p50_s"))
    assert [value is None for value in column(run, "limited_cwnd")] == [False, True, True, True]


def test_only_probes_pings_and_calls_are_written_down_one_by_one(run: Run) -> None:
    assert run.probes["flow"].unique(maintain_order=True).to_list() == ["ping", "call"]
    assert run.probes["flow"].value_counts(sort=True)["count"].to_list() == [101, 21]


def test_samples_of_a_ping_have_its_rtt_and_no_window(run: Run) -> None:
    samples = run.series.filter(run.series["flow"] == "ping")
    assert samples["srtt_s"].drop_nulls().min() >= 0.02
    assert samples["cwnd_bytes"].null_count() == samples.height


def test_only_connections_share_fairly_or_not(run: Run) -> None:
    totals = run.summary()["totals"]
    assert (totals["jain"], totals["bulk_flows"]) == (None, 1)


def test_a_call_has_a_score_and_others_have_none(run: Run) -> None:
    scores = metrics.call_scores(run)
    assert list(scores) == ["call"]
    assert 1.0 < (scores["call"] or 0) < 4.5
