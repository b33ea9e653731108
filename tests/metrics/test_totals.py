"""Totals, shares and indices over one span of time: never above the links, and dashes where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, api
from fullpipe.analysis import metrics
from fullpipe.analysis.metrics import measured, summary
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.samples import compared
from fullpipe.runs.spans import span_of, together_bps
from fullpipe.scenario.model.base import stored
from fullpipe.sweeps import Job

ONE_AFTER_THE_OTHER = {
    "name": "one-after-the-other",
    "duration": "40 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": {"size": "1 bdp"}},
    },
    "flows": [
        {"name": "first", "cca": "cubic", "stop": "20 s"},
        {"name": "second", "cca": "cubic", "start": "20 s"},
    ],
}
TWO_SERVERS = {
    "name": "two-servers",
    "duration": "20 s",
    "warmup": "2 s",
    "topology": {"kind": "dumbbell", "bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms"}},
    "flows": [
        {"name": "load", "cca": "cubic", "tcp": {"receive_buffer": "20 kB"}, "start": "5 s", "stop": "15 s"},
        {"name": "near", "workload": "ping"},
        {"name": "far", "workload": "ping", "access": {"delay": "100 ms"}},
    ],
}


_LATE = [{"name": "long", "cca": "cubic"}, {"name": "late", "cca": "cubic", "start": "3 s"}]


def value(run: Run, metric: str, of: str = "all flows") -> float | None:
    rows = measured(run, metrics=[metric]).rows()
    found: dict[tuple[str, str], float | None] = {(group, name): number for _, group, name, number, _ in rows}
    return found[of, metric]


@pytest.fixture(scope="module")
def in_turns() -> Run:
    return fullpipe.run(Scenario(**ONE_AFTER_THE_OTHER))


def test_flows_in_turns_get_what_the_link_carries(in_turns: Run) -> None:
    """20 Mbit/s of packets of 1514 B with 1448 B of payload are 19.1 Mbit/s."""
    total = value(in_turns, "goodput")
    assert total == pytest.approx(19.1e6, rel=0.01)
    assert summary(in_turns)["totals"]["goodput_bps"] == total


def test_flows_in_turns_share_nothing(in_turns: Run) -> None:
    assert value(in_turns, "share", "first") is None
    assert value(in_turns, "jain") is None
    found = summary(in_turns)
    assert [flow["share"] for flow in found["flows"]] == [None, None]
    assert found["totals"]["jain"] is None


@pytest.mark.parametrize("warmup_s", [0.0, None])
def test_flows_in_turns_put_no_more_on_the_wire_than_the_link_sends(
    in_turns: Run, warmup_s: float | None
) -> None:
    """The queue drops some of what senders send: under 2 % above 20 Mbit/s."""
    total = metrics.cumulative_wire_bps(in_turns.flows, warmup_s)
    assert total == pytest.approx(20e6, rel=0.02)
    assert total == pytest.approx(value(in_turns, "wire"))


def test_a_flow_that_delivers_nothing_counts_what_it_sends() -> None:
    """10 Mbit in the 5 s of the first flow, 20 Mbit in the 10 s that both have."""
    rows = {
        "start_s": [5.0, 0.0],
        "end_s": [10.0, 10.0],
        "delivered_bytes": [1_000_000, 0],
        "goodput_bps": [1.6e6, 0.0],
        "wire_bps": [2e6, 1e6],
    }
    flows = pl.DataFrame(rows)
    assert metrics.cumulative_wire_bps(flows, 0.0) == pytest.approx(2e6)
    assert metrics.cumulative_wire_bps(flows) == pytest.approx(3e6)  # it begins with the other


def test_the_terminal_says_the_same(in_turns: Run, capsys: pytest.CaptureFixture[str]) -> None:
    from fullpipe.cli.tables import show_run

    show_run(in_turns)
    assert "total 19.07 Mbit/s, Jain - of 2 bulk flows" in capsys.readouterr().out


def test_latency_increases_are_of_each_server() -> None:
    run = fullpipe.run(Scenario(**TWO_SERVERS))
    assert value(run, "latency_increase") == pytest.approx(0.0, abs=1e-3)
    assert value(run, "latency_increase", "near") == pytest.approx(0.0, abs=1e-3)


def test_shares_are_of_the_time_in_which_all_are_active() -> None:
    """A flow alone for half of the time has no larger share than in the half that it shares."""
    tree = dict(
        ONE_AFTER_THE_OTHER,
        flows=[{"name": "long", "cca": "cubic"}, {"name": "late", "cca": "cubic", "start": "20 s"}],
    )
    run = fullpipe.run(Scenario(**tree))
    row = {row["flow"]: row for row in run.rows("flows")}
    assert row["long"]["shared_s"] == row["late"]["shared_s"] == pytest.approx(20.0)
    assert row["late"]["shared_bytes"] == row["late"]["delivered_bytes"]
    total = sum(each["shared_bytes"] for each in row.values())
    assert value(run, "share", "long") == row["long"]["shared_bytes"] / total
    assert value(run, "share", "long") < row["long"]["goodput_bps"] / sum(
        r["goodput_bps"] for r in row.values()
    )


def test_a_flow_of_the_warm_up_has_no_part_in_shares() -> None:
    early = {"name": "early", "cca": "cubic", "stop": "1 s"}
    tree = dict(ONE_AFTER_THE_OTHER, duration="6 s", warmup="2 s", flows=[early, *_LATE])
    run = fullpipe.run(Scenario(**tree))
    assert [row["shared_s"] for row in run.rows("flows")] == pytest.approx([3.0, 3.0, 3.0])
    assert value(run, "jain") is not None


def test_samples_say_the_same_where_an_engine_does_not_count() -> None:
    tree = dict(ONE_AFTER_THE_OTHER, record={"interval": "100 ms"})
    tree["flows"] = [{"name": "long", "cca": "cubic"}, {"name": "late", "cca": "cubic", "start": "20 s"}]
    run = fullpipe.run(Scenario(**tree))
    rows = run.rows("flows")
    without = [row | {"shared_bytes": None} for row in rows]
    names = ["long", "late"]
    counted, sampled = (compared(each, names, lambda: run.series, 0.0) for each in (rows, without))
    assert sampled["long"] / sum(sampled.values()) == pytest.approx(
        counted["long"] / sum(counted.values()), abs=1e-3
    )


def both_ways(*more: dict[str, Any], **changed: Any) -> Run:
    """Two downloads and an upload, and other flows."""
    flows = [{"cca": "cubic", "count": 2}, {"name": "up", "cca": "cubic", "upload": True}, *more]
    return fullpipe.run(Scenario(**{**ONE_AFTER_THE_OTHER, "duration": "4 s", "flows": flows, **changed}))


def test_jain_is_not_of_downloads_beside_uploads() -> None:
    run = both_ways()
    assert summary(run)["totals"]["jain"] is value(run, "jain") is None
    assert value(run, "jain", "all downloads") == metrics.jain(run.flows["goodput_bps"][:2])


def test_an_upload_that_is_no_bulk_flow_is_of_the_other_direction() -> None:
    ping = {"name": "ping", "workload": "ping", "upload": True}
    run = both_ways(flows=[{"cca": "cubic", "count": 2}, ping])
    assert summary(run)["totals"]["jain"] is value(run, "jain") is None


def test_run_and_metrics_say_the_same_of_fairness(capsys: pytest.CaptureFixture[str]) -> None:
    """The same to the last digit where bulk flows compete beside flows that are none, at unlike times."""
    from fullpipe.cli.tables import show_run

    others = [{"name": "call", "workload": "voip"}, {"name": "page", "cca": "cubic", "size": "1 MB"}]
    run = both_ways(flows=[*_LATE, *others])
    index = summary(run)["totals"]["jain"]
    assert index == value(run, "jain")
    show_run(run)
    assert f"Jain {index:.3f} of 2 bulk flows while all are active" in capsys.readouterr().out


def test_goodput_is_of_calls_but_not_of_pings(capsys: pytest.CaptureFixture[str]) -> None:
    from fullpipe.cli.tables import show_run

    run = both_ways({"name": "call", "workload": "voip"}, {"name": "ping", "workload": "ping"})
    show_run(run)
    rows = {words[0]: words for words in map(str.split, capsys.readouterr().out.splitlines()) if words}
    assert rows["ping"][1] == "-"
    assert float(rows["call"][1]) > 0
    found = {flow["flow"]: flow for flow in summary(run)["flows"]}
    assert found["ping"]["goodput_bps"] > 0


def test_shares_add_up_in_each_direction() -> None:
    shares = [flow["share"] for flow in summary(both_ways())["flows"]]
    assert sum(shares[:2]) == pytest.approx(1)
    assert shares[2] == 1


def test_rates_over_unknown_times_are_not_added() -> None:
    assert together_bps([1e6, 2e6], [(0.0, 1.0), None]) is None
    assert together_bps([None, None], [None, None]) is None
    assert span_of({"start_s": 1.0, "end_s": None}, 0.0) is None


def test_a_ping_does_not_prolong_the_time_of_others() -> None:
    bottleneck = {"rate": "10 Mbit/s", "delay": "5 ms"}
    down = {"name": "down", "cca": "cubic", "start": "2 s"}
    ping = {"name": "ping", "workload": {"kind": "ping", "interval": "100 ms"}}
    tree = {"name": "pinged", "duration": "4 s", "topology": {"kind": "dumbbell", "bottleneck": bottleneck}}
    alone, beside = (fullpipe.run(Scenario(**tree, flows=flows)) for flows in ([down], [down, ping]))
    rate_bps = alone.flows["goodput_bps"][0]
    ping_bps = beside.flows.filter(flow="ping")["goodput_bps"][0]
    wanted_bps = beside.flows.filter(flow="down")["goodput_bps"][0] + ping_bps
    assert wanted_bps == pytest.approx(rate_bps, rel=0.01)
    assert summary(beside)["totals"]["goodput_bps"] == pytest.approx(wanted_bps)
    assert metrics.total_goodput_bps(beside.flows) == pytest.approx(wanted_bps)
    only = fullpipe.run(Scenario(**tree, flows=[ping, {**ping, "name": "late", "start": "1 s"}]))
    spans_s = [4.0, 3.0]
    bits = sum(rate * span_s for rate, span_s in zip(only.flows["goodput_bps"], spans_s, strict=True))
    assert summary(only)["totals"]["goodput_bps"] == pytest.approx(bits / 4.0)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Stores of the same runs: with a flow called as a total, with such a label, and with neither."""
    folder, places = tmp_path_factory.mktemp("kept"), {}
    made = {**ONE_AFTER_THE_OTHER, "warmup": "2 s", "duration": "8 s"}
    second = {"name": "second", "cca": "cubic"}
    for name in ("own", *TOTALS, "label"):
        labels = {"labels": {"flows.mine": "all flows"}} if name == "label" else {}
        places[name] = folder / name.replace(" ", "-")
        for cca in ("reno", "bbr3"):
            first = {"name": name if name in TOTALS else "mine", "cca": cca, "start_jitter": "1 s"}
            with stored():
                scenario = Scenario(**{**made, "flows": [first, second], **labels})
                api.run_all([Job(scenario, seed) for seed in (1, 2, 3)], out=places[name])
    return places


@pytest.mark.parametrize("name", [*TOTALS, "label"])
@pytest.mark.parametrize(
    "words",
    [
        ("table", "--rows", "cca", "--columns", "flows", "--format", "csv"),
        ("test", "--metric", "goodput", "--factor", "cca", "--format", "csv"),
        ("plot", "--metric", "goodput", "--x", "cca", "--of", "NAME", "--name", "drawn"),
        ("report", "-o", "told.md"),
    ],
    ids=lambda words: words[0],
)
def test_stored_runs_of_a_flow_called_as_a_total_have_its_own_values(
    fullpipe: Callable[..., Any], kept: dict[str, Path], words: tuple[str, ...], name: str
) -> None:
    called = f"{name} (flow)" if name in TOTALS else "mine"
    told = []
    for store, group in (("own", "mine"), (name, called)):
        command, *more = (group if word == "NAME" else word for word in words)
        done = fullpipe(command, kept[store], *more)
        assert done.exit_code == 0, done.output
        written = [file for file in (Path("told.md"), Path("figures/drawn.csv")) if file.exists()]
        text = "".join(file.read_text(encoding="utf-8") for file in written)
        # such a name cannot run again
        again = r"( No command repeats [^\n]*)?\n\n([^\n]*Repeat:\n\n```.*?```\n\n)?"
        text = re.sub(again, "\n\n", text, flags=re.DOTALL)
        told.append((done.stdout + text.partition("## Provenance")[0]).replace(group, "GROUP"))
    assert told[0].count("GROUP") > 0
    assert told[0] == told[1]
