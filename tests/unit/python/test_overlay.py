"""Scenario files that begin with another one."""

from pathlib import Path

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.scenario.catalogue import FORMER_KEYS

HOME = """
name = "home"
duration = "5 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", size = "1 bdp" }
[[flows]]
cca = "cubic"
[sweep]
"flows.0.cca" = ["cubic", "bbr1"]
"""


def made(folder: Path, text: str) -> Scenario:
    (folder / "home.toml").write_text(HOME, encoding="utf-8")
    (folder / "own.toml").write_text(text, encoding="utf-8")
    return Scenario.from_file(folder / "own.toml")


def test_what_is_not_said_is_that_of_the_base(tmp_path: Path) -> None:
    scenario = made(tmp_path, 'base = "home.toml"\nname = "own"')
    assert scenario.name == "own"
    assert scenario.digest == Scenario.from_toml(HOME).digest


def test_tables_are_laid_over_those_of_the_base(tmp_path: Path) -> None:
    scenario = made(tmp_path, 'base = "home.toml"\n[topology.bottleneck]\nrate = "5 Mbit/s"')
    bottleneck = scenario.to_dict()["topology"]["bottleneck"]
    assert (bottleneck["rate"], bottleneck["delay"]) == ("5 Mbit/s", "10 ms")


def test_a_table_that_says_its_kind_stands_for_itself(tmp_path: Path) -> None:
    over = 'base = "home.toml"\n[topology.bottleneck.queue]\nkind = "codel"\ntarget_ms = 3'
    queue = made(tmp_path, over).to_dict()["topology"]["bottleneck"]["queue"]
    assert queue == {"kind": "codel", "target": "3 ms"}


@pytest.mark.parametrize(
    ("base", "over", "same"),
    [
        ("thin = 4", "ack_filter = 8", "ack_filter = 8"),
        ('batch = "1 ms"', 'aggregation = "2 ms"', 'aggregation = "2 ms"'),
        (
            f'{FORMER_KEYS["reordering"]} = {{ every = 100, extra = "30 ms" }}',
            "reordering = { every = 50 }",
            'reordering = { every = 50, extra = "30 ms" }',
        ),
        (
            'queue = { kind = "codel", target = "5 ms" }',
            "queue = { target_ms = 3 }",
            'queue = { kind = "codel", target = "3 ms" }',
        ),
    ],
)
def test_another_spelling_of_a_key_is_laid_over_it(tmp_path: Path, base: str, over: str, same: str) -> None:
    link = '[topology.bottleneck]\nrate = "20 Mbit/s"\ndelay = "10 ms"\n'
    start = 'name = "home"\nduration = "5 s"\n[[flows]]\ncca = "cubic"\n[topology]\nkind = "dumbbell"\n'
    (tmp_path / "base.toml").write_text(f"{start}{link}{base}", encoding="utf-8")
    (tmp_path / "own.toml").write_text(f'base = "base.toml"\n[topology.bottleneck]\n{over}', encoding="utf-8")
    assert Scenario.from_file(tmp_path / "own.toml") == Scenario.from_toml(f"{start}{link}{same}")


def test_a_key_in_two_spellings_is_refused(tmp_path: Path) -> None:
    over = 'base = "home.toml"\n[topology.bottleneck]\nthin = 4\nack_filter = 8'
    with pytest.raises(ScenarioError, match="thin"):
        made(tmp_path, over)


def test_a_path_goes_through_a_former_key(tmp_path: Path) -> None:
    former = f'{FORMER_KEYS["reordering"]} = {{ every = 100, extra = "30 ms" }}'
    text = HOME.replace("[[flows]]", f"{former}\n[[flows]]")
    (tmp_path / "base.toml").write_text(text, encoding="utf-8")
    scenario = made(tmp_path, 'base = "base.toml"\n[set]\n"topology.bottleneck.reordering.every" = 50')
    assert scenario.to_dict()["topology"]["bottleneck"]["reordering"] == {"every": 50, "extra": "30 ms"}


def test_a_sweep_takes_the_place_of_that_of_the_base(tmp_path: Path) -> None:
    scenario = made(tmp_path, 'base = "home.toml"\n[sweep]\n"flows.0.count" = [1, 2]')
    assert list(scenario.sweep) == ["flows.0.count"]


def test_paths_are_set_last(tmp_path: Path) -> None:
    scenario = made(tmp_path, 'base = "home.toml"\n[set]\n"flows.*.count" = 3')
    assert scenario.flows[0].count == 3


def test_a_scenario_that_comes_with_fullpipe_may_be_the_base() -> None:
    scenario = Scenario.from_toml('base = "single-cubic"\nduration = "7 s"')
    assert scenario == Scenario.named("single-cubic").with_values({"duration": "7 s"})


def test_files_are_found_beside_the_file_that_names_them(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "steps.csv").write_text("time_s,rate_bps\n0,1e6\n1,2e6\n", encoding="utf-8")
    (inner / "home.toml").write_text(
        HOME.replace('rate = "20 Mbit/s"', 'trace = "steps.csv"'), encoding="utf-8"
    )
    scenario = made(tmp_path, 'base = "inner/home.toml"')
    assert scenario.to_dict()["topology"]["bottleneck"]["trace"]["file"] == str(inner / "steps.csv")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('base = "own.toml"', "base: "),
        ("base = 5", "base: expected a file or the name of a scenario, got 5"),
        ('base = "nothing.toml"', "{folder}/nothing.toml: no such file"),
        ('base = "home.toml"\nset = 5', "set: expected paths and their values, got 5"),
        ('base = "home.toml"\n[set]\n"flows.7.cca" = "reno"', "flows.7.cca: there is no entry 7"),
    ],
)
def test_a_wrong_base_is_refused(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(ScenarioError) as error:
        made(tmp_path, text)
    assert error.value.problems[0].startswith(line.format(folder=tmp_path))
