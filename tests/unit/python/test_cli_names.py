"""`fullpipe list` names what is declared, and `fullpipe show` explains it, to people and to programs."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.analysis.metrics import LINK_MEASURES, MEASURES
from fullpipe.cli.kinds import Kind, scenarios
from fullpipe.scenario import catalogue

Cli = Callable[..., Any]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("ccas", "cubic"),
        ("queues", "drop_tail"),
        ("losses", "gilbert_elliott"),
        ("impairments", "jitter"),
        ("media", "shared"),
        ("scenarios", "kato2025"),
        ("papers", "kato2025"),
        ("engines", "native"),
        ("tables", "flows"),
    ],
)
def test_list_names_what_there_is(fullpipe: Cli, kind: str, name: str) -> None:
    assert name in [line.split()[0] for line in fullpipe("list", kind).stdout.splitlines() if line.strip()]


@pytest.mark.parametrize("kind", ["ccas", "queues", "losses", "impairments", "media"])
def test_a_list_without_a_reader_of_arguments_is_the_same(fullpipe: Cli, kind: str) -> None:
    command = [sys.executable, "-m", "fullpipe", "list", kind]
    alone = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert alone.stdout == fullpipe("list", kind).stdout


def test_algorithms_are_listed_with_source_and_parameters(fullpipe: Cli) -> None:
    text = " ".join(fullpipe("list", "ccas").stdout.split())
    assert "Linux net/ipv4/tcp_vegas.c parameters: alpha, beta, gamma" in text
    listed = json.loads(fullpipe("list", "ccas", "--json").stdout)
    assert listed["vegas"]["params"]["alpha"]["default"] == 2


def test_an_unknown_list_is_refused(fullpipe: Cli) -> None:
    assert fullpipe("list", "flows").exit_code == 2


def test_show_prints_a_scenario_that_can_be_run(fullpipe: Cli) -> None:
    Path("mine.toml").write_text(fullpipe("show", "single-cubic").stdout, encoding="utf-8")
    assert fullpipe("run", "mine.toml", "--set", "duration=100 ms").exit_code == 0


def test_show_prints_the_parameters_of_an_algorithm(fullpipe: Cli) -> None:
    assert "beta" in fullpipe("show", "cubic").stdout


def test_show_prints_what_each_preset_sets(fullpipe: Cli) -> None:
    text = fullpipe("show", "bbr_n_plus").stdout
    assert re.findall(r"^preset (\w+):", text, re.MULTILINE) == ["paper2025", "smart_exit", "both"]
    assert "preset smart_exit: exit = sane\n" in text


def test_show_finds_an_algorithm_by_its_alias(fullpipe: Cli) -> None:
    assert fullpipe("show", "bbr").stdout.startswith("bbr1: ")


@pytest.mark.parametrize("family", catalogue.families())
def test_show_knows_every_family_of_the_registry(fullpipe: Cli, family: str) -> None:
    for name, entry in catalogue.family(family).items():
        assert re.search(rf"^{name}( \({family}\))?: ", fullpipe("show", name).stdout, re.MULTILINE)
        found = json.loads(fullpipe("show", name, "--json").stdout)
        assert list(found.get(family, found)["params"]) == list(entry.params)


def test_show_prints_every_entry_of_a_name_with_its_family(fullpipe: Cli) -> None:
    found = json.loads(fullpipe("show", "periodic", "--json").stdout)
    assert {family: entry["name"] for family, entry in found.items()} == {
        "workloads": "periodic",
        "losses": "periodic",
        "applications": "periodic",
    }


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("voip", "^voip: One direction of a call"),
        ("goodput", "^unit: bit/s$"),
        ("rtt_mean", "^better: lower$"),
        ("utilisation", "^of: links$"),
        ("smart_exit", r"^smart_exit: a preset of bbr_n_plus: exit = sane$"),
        ("native", "^native: "),
        ("gniaz2025", "^gniaz2025: "),
    ],
)
def test_show_explains_whatever_is_declared(fullpipe: Cli, name: str, told: str) -> None:
    assert re.search(told, fullpipe("show", name).stdout, re.MULTILINE)


@pytest.mark.parametrize("kind", list(Kind))
def test_whatever_is_listed_can_be_shown(fullpipe: Cli, kind: Kind) -> None:
    listed = json.loads(fullpipe("list", kind, "--json").stdout)
    assert listed
    for name in list(listed)[:3]:
        assert fullpipe("show", name).exit_code == 0


def test_metrics_are_listed_with_unit_direction_and_meaning(fullpipe: Cli) -> None:
    found = json.loads(fullpipe("list", "metrics", "--json").stdout)
    assert {measure.name for measure in (*MEASURES, *LINK_MEASURES)} == set(found)
    assert (found["rtt_p95"]["unit"], found["rtt_p95"]["better"]) == ("s", "lower")
    assert re.search(r"^goodput +bit/s, higher is better: ", fullpipe("list", "metrics").stdout, re.MULTILINE)


def test_workloads_are_listed_with_the_keys_and_defaults_of_a_scenario(fullpipe: Cli) -> None:
    found = json.loads(fullpipe("list", "workloads", "--json").stdout)
    assert found["voip"]["params"]["frame"]["default"] == "20 ms"
    needed = {"rate": "1 Mbit/s", "interval": "1 s", "sizes": "20 kB", "response": "20 kB"}
    needed |= {"on": "1 s", "off": "1 s"}
    for kind, entry in found.items():
        defaults = {key: param["default"] for key, param in entry["params"].items()}
        given = {key: needed.get(key) if value is None else value for key, value in defaults.items()}
        flow = {} if kind in ("udp", "voip", "ping", "probe") else {"cca": "cubic"}
        workload = {"kind": kind, **{key: value for key, value in given.items() if value is not None}}
        assert Scenario.named("single-cubic").with_values({"flows": [{**flow, "workload": workload}]})


def test_show_prints_the_columns_of_a_table(fullpipe: Cli) -> None:
    assert "goodput_bps" in fullpipe("show", "flows").stdout


def test_show_gives_a_program_the_scenario_that_it_understood(fullpipe: Cli, small_file: Path) -> None:
    for name in ("single-cubic", small_file):
        tree = json.loads(fullpipe("show", name, "--json").stdout)
        assert Scenario(**tree).digest == Scenario.from_toml(fullpipe("show", name).stdout).digest


@pytest.mark.parametrize(
    ("name", "keys"),
    [("cubic", {"name", "params", "presets"}), ("codel", {"name", "params"}), ("flows", {"row", "columns"})],
)
def test_show_gives_a_program_what_it_tells_people(fullpipe: Cli, name: str, keys: set[str]) -> None:
    found = json.loads(fullpipe("show", name, "--json").stdout)
    assert found["name"] == name
    assert keys <= set(found)


def test_show_refuses_an_unknown_name_with_a_suggestion(fullpipe: Cli) -> None:
    result = fullpipe("show", "kato")
    assert (result.exit_code, result.stderr) == (
        2,
        'fullpipe: unknown name "kato"; did you mean "kato2025"?\n',
    )


@pytest.mark.parametrize("name", scenarios())
def test_a_scenario_is_listed_as_it_is_read(name: str) -> None:
    scenario = Scenario.named(name)
    flows = " + ".join(f"{flow.count} x {flow.described}" for flow in scenario.flows)
    points = f", {len(list(scenario.points()))} points" if scenario.sweep else ""
    assert scenarios()[name] == f"{flows}, {scenario.duration_s:g} s{points}"


def test_list_alone_counts_the_kinds(fullpipe: Cli) -> None:
    told = fullpipe("list")
    assert told.exit_code == 0
    counted = dict(line.split() for line in told.stdout.splitlines()[:-1])
    assert counted.keys() == {*map(str, Kind)}
    assert int(counted["ccas"]) == len(json.loads(fullpipe("list", "ccas", "--json").stdout))
    assert json.loads(fullpipe("list", "--json").stdout) == {k: int(n) for k, n in counted.items()}


@pytest.mark.parametrize(("name", "has_size"), [("drop_tail", True), ("codel", True), ("red", False)])
def test_show_of_a_queue_has_the_key_that_scenarios_use_for_the_limit(
    fullpipe: Cli, name: str, has_size: bool
) -> None:
    rows = [line.split()[0] for line in fullpipe("show", name).stdout.splitlines() if line[:1].isalpha()]
    assert ("size" in rows) == has_size


def test_show_leads_from_a_word_of_the_field_to_the_metric(fullpipe: Cli) -> None:
    assert 'did you mean "call_score"?' in fullpipe("show", "mos").stderr
    assert "other words: call quality, mos" in fullpipe("show", "call_score").stdout
