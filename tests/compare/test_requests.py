"""Metrics and groups that users name: their order, their groups, and their labels in every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from fullpipe import Scenario, engines
from fullpipe.engines import Problem
from fullpipe.engines.native import NativeEngine

LINE = """
name = "line"
duration = "2 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { kind = "drop_tail", size = "1 bdp" } }
[[flows]]
name = "bulk"
cca = "cubic"
count = 2
start_jitter = "100 ms"
[[flows]]
name = "call"
workload = "voip"
[record]
interval = "off"
"""
SWEEP = """
[sweep]
"flows.0.cca" = ["cubic", "bbr3"]
"topology.bottleneck.queue.size" = ["1 bdp", "2 bdp"]
"""
LABEL = ("--label", "flows.bulk=the downloads")
OVER = ("compare", "line.toml", "--over", "flows.0.cca=cubic,bbr3", "--seeds", 2)
COMMANDS: dict[str, tuple[object, ...]] = {
    "compare": (*OVER, *LABEL),
    "plan": ("plan", "labelled.toml", "--detect", "50%", "--pilot", 5),
    "plot": ("plot", "runs", "--kind", "box", *LABEL, "--out", "it.svg"),
    "report": ("report", "runs", *LABEL, "-o", "it.md"),
    "run": ("run", "line.toml", "--seeds", 2, *LABEL),
    "table": ("table", "runs", *LABEL),
    "test": ("test", "swept.toml", "--factor", "cca", "--where", "size=1 bdp", "--seeds", 2, *LABEL),
}
Cli = Callable[..., Any]


@pytest.fixture
def line(fullpipe: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("COLUMNS", "100")
    Path("line.toml").write_text(LINE, encoding="utf-8")
    Path("swept.toml").write_text(LINE + SWEEP, encoding="utf-8")
    words = LINE + '[labels]\n"flows.bulk" = "the downloads"\n'
    Path("labelled.toml").write_text(words, encoding="utf-8")
    return fullpipe


def test_the_first_metric_leads_the_conclusion_and_the_table(line: Cli) -> None:
    metrics = ("--metric", "call_score", "--metric", "rtt_mean", "--metric", "goodput")
    said = line(*OVER, *metrics).stdout
    conclusion, _, table = said.partition("\n\n")
    sentences = " ".join(conclusion.split())
    order = ["opinion score (MOS) of call", "ean RTT of bulk", "oodput of bulk"]
    assert sorted(order, key=sentences.index) == order
    rows = [row.split()[0] for row in table.splitlines()[2:]]
    assert rows[:2] == ["call", "call_score"]
    assert rows[rows.index("bulk") :][:3] == ["bulk", "rtt_mean", "goodput"]


def test_a_table_of_several_variants_keeps_their_rows_together(line: Cli) -> None:
    over = (*OVER, "--over", "topology.bottleneck.delay=10 ms,20 ms")
    said = line(*over, "--metric", "call_score", "--metric", "goodput", "--all").stdout
    places = [row for row in said.splitlines() if row.endswith((", call", "all flows")) or ", bulk" in row]
    sides = [place.rpartition(",")[0] for place in places]
    assert len(sides) == 9
    assert sides == sorted(sides, key=sides.index)
    assert [place.rpartition(", ")[2] for place in places[:3]] == ["call", "bulk (2 flows)", "all flows"]


def test_variants_can_be_tables_beside_names(line: Cli) -> None:
    queues = '{kind = "drop_tail", size = "50 ms"},fq_codel,{kind = "codel", target = "2 ms"}'
    over = ("--over", f"topology.bottleneck.queue={queues}", "--seeds", 2, "--metric", "goodput", "--json")
    found = line("compare", "line.toml", *over).stdout.splitlines()
    sides = [json.loads(each) for each in found]
    assert {each["reference"] for each in sides} == {"drop_tail 50 ms"}
    assert [each["variant"] for each in sides] == ["fq_codel", "codel 2 ms"]


def test_a_store_of_one_engine_says_how_to_compare_the_values_of_its_sweep(line: Cli) -> None:
    line("run", "swept.toml", "--seeds", 2)
    told = line("compare", "runs")
    assert told.exit_code == 2
    command = " ".join(told.stderr.split()).partition("to compare the values of flows.0.cca: ")[2]
    assert command == "fullpipe test runs --metric goodput --factor flows.0.cca"
    assert line(*command.split()[1:]).exit_code == 0


def test_a_scenario_given_as_a_suite_is_called_one(line: Cli) -> None:
    told = line("check", "line.toml")
    assert (told.exit_code, "is a scenario, not a suite" in told.stderr) == (2, True)


@pytest.mark.parametrize("group", ["bulk", "flows.0", "the downloads"])
def test_a_metric_can_name_its_group(line: Cli, group: str) -> None:
    words = (*OVER, *LABEL, "--metric", f"goodput of {group}", "--metric", "call_score", "--json")
    found = json.loads(line(*words).stdout)
    rows = {(row["metric"], row["of"]) for row in found["rows"]}
    assert {of for metric, of in rows if metric == "goodput"} == {"bulk"}
    assert ("call_score", "call") in rows


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("group", ["bulk", "the downloads"])
def test_a_group_has_its_name_and_its_label_in_every_command(line: Cli, command: str, group: str) -> None:
    if "runs" in COMMANDS[command]:
        line("run", "line.toml", "--seeds", 2)
    told = line(*COMMANDS[command], "--metric", f"goodput of {group}")
    assert told.exit_code in (0, 1), told.stderr
    if command not in ("plan", "plot", "report", "test"):
        assert line(*COMMANDS[command], "--metric", "goodput of fridge").exit_code == 2
    if command in ("compare", "plot", "report", "table", "test"):
        assert line(*COMMANDS[command], "--metric", "goodput", "--of", group).exit_code in (0, 1)


def test_a_group_without_the_metric_is_an_error_with_the_groups_that_have_it(line: Cli) -> None:
    told = line(*OVER, "--metric", "call_score of bulk")
    assert (told.exit_code, 'no run has call_score of "bulk"' in told.stderr) == (2, True)
    told = line(*OVER, "--metric", "goodput of bulk", "--of", "call")
    assert (told.exit_code, "leave out --of" in " ".join(told.stderr.split())) == (2, True)


class Kernel(NativeEngine):
    """The native engine as a Linux kernel without BBRv3."""

    name: ClassVar[str] = "linux"

    def check(self, scenario: Scenario) -> list[Problem]:
        has_bbr3 = any(flow.cca and flow.cca.kind == "bbr3" for flow in scenario.flows)
        return [Problem("flows[0].cca", "no bbr3 here")] if has_bbr3 else super().check(scenario)


def test_a_sweep_without_over_says_how_to_compare_its_algorithms(
    line: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "linux": Kernel})
    told = line("compare", "swept.toml", "--seeds", 2)
    assert told.exit_code == 2
    *_, last = " ".join(told.stderr.split()).split("fullpipe: ")
    assert "engines are compared at every point of flows.0.cca and topology.bottleneck.queue.size" in last
    assert last.endswith("fullpipe compare swept.toml --over flows.0.cca=cubic,bbr3")
    named = line("compare", "swept.toml", "--seeds", 2, "--engines", "native,linux")
    assert "--over" not in named.stderr


def test_comparisons_of_engines_over_a_sweep_name_the_points(
    line: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "linux": Kernel})
    sweep = 'sweep={"topology.bottleneck.rate"=["5 Mbit/s","10 Mbit/s"]}'
    words = ("compare", "line.toml", "--seeds", 2, "--engines", "native,linux", "--set", sweep)
    told = line(*words, "--all").stdout
    assert "at ," not in told
    assert "rate 5 Mbit/s, bulk" in told
    assert "rate 10 Mbit/s, bulk" in told
    for one in map(json.loads, line(*words, "--json").stdout.splitlines()):
        assert one["point"]
        assert all(each["point"] == one["point"] for each in one["findings"])


def test_the_table_of_one_run_has_the_labels_of_groups_of_several_flows(line: Cli) -> None:
    rows = line("run", "line.toml", *LABEL).stdout.splitlines()
    for name in ("the downloads 1 ", "the downloads 2 ", "call "):
        assert any(row.startswith(name) for row in rows)
    assert "the downloads 2" in line("run", "labelled.toml").stdout


def test_the_index_of_an_entry_does_not_mean_another_entry_with_one_of_its_names(line: Cli) -> None:
    """At cubic, entry 0 is cubic-1 and entry 1 is cubic-2; at bbr3, entry 1 is cubic-1."""
    two = LINE.replace('name = "bulk"\n', "").replace("count = 2\n", "").replace(
        '[[flows]]\nname = "call"\nworkload = "voip"', '[[flows]]\ncca = "cubic"\nstart_jitter = "100 ms"'
    )  # fmt: skip
    Path("two.toml").write_text(f'{two}[sweep]\n"flows.0.cca" = ["cubic", "bbr3"]\n', encoding="utf-8")
    for metric in (("goodput", "--of", "flows.0"), ("goodput of flows.0",)):
        words = ("test", "two.toml", "--factor", "cca", "--seeds", 3, "--metric", *metric, "--json")
        assert {row["entry"] for row in json.loads(line(*words).stdout)["rows"]} == {0}
    line("run", "two.toml", "--seeds", 2, "--out", "kept")
    assert len(line("table", "kept", "--of", "flows.0", "--format", "csv").stdout.splitlines()) == 3
