"""`fullpipe test` as users meet it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fullpipe.runs import Store
from fullpipe.validation.compare.stored import FORMAT

SCENARIO = """
name = "home"
duration = "2 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", size = "1 bdp" }
[[flows]]
cca = "cubic"
start_jitter = "500 ms"
[[flows]]
cca = "reno"
start_jitter = "500 ms"
[sweep]
"flows.0.cca" = ["cubic", "bbr3"]
"""
FAMILY = """
[family.speed]
question = "Is BBRv3 faster?"
metrics = ["goodput"]
factors = ["cca"]
of = ["flows.0"]
margins = { goodput = "2%" }
"""
TEST = ("--metric", "goodput", "--factor", "cca")


@pytest.fixture
def home(fullpipe: Callable[..., Any]) -> Callable[..., Any]:
    Path("home.toml").write_text(SCENARIO, encoding="utf-8")
    Path("family.toml").write_text(FAMILY, encoding="utf-8")
    calm = SCENARIO.replace('start_jitter = "500 ms"\n', "").replace("bbr3", "vegas")
    Path("calm.toml").write_text(calm, encoding="utf-8")
    return fullpipe


def test_a_scenario_is_run_and_tested(home: Callable[..., Any]) -> None:
    made = home("test", "home.toml", *TEST, "--seeds", 3)
    assert made.exit_code == 0, made.output
    assert re.match(
        r"Algorithm (matters|does not matter|is undecided): with bbr3 instead of cubic, goodput of ",
        made.output,
    )
    assert len(list(Path("runs").glob("*/native-*"))) == 6


def test_a_store_gives_the_same_answer_as_its_scenario(home: Callable[..., Any]) -> None:
    first = json.loads(home("test", "home.toml", *TEST, "--seeds", 3, "--json").output)
    again = json.loads(
        home("test", "runs", *TEST, "--reference", "cubic", "--block", "seed", "--json").output
    )
    assert again["rows"] == first["rows"]
    assert again["kind"] == "test"


def test_json_has_the_conclusion_and_the_status_of_every_factor(home: Callable[..., Any]) -> None:
    made = json.loads(home("test", "home.toml", *TEST, "--seeds", 3, "--json").output)
    assert made["conclusion"][0].startswith("Algorithm")
    assert {(each["of"], each["factor"]) for each in made["factors"]} == {
        (of, "flows.0.cca") for of in ("flows.0", "reno-1", "all flows")
    }
    assert {each["status"] for each in made["factors"]} <= {"matters", "does not matter", "undecided"}


@pytest.mark.parametrize("option", ["--group", "--of"])
def test_a_group_is_chosen_by_either_option(home: Callable[..., Any], option: str) -> None:
    made = json.loads(home("test", "home.toml", *TEST, option, "flows.0", "--seeds", 3, "--json").output)
    assert {row["of"] for row in made["rows"]} == {"flows.0"}


def test_all_rows_are_printed_if_they_are_asked_for(home: Callable[..., Any]) -> None:
    made = home("test", "home.toml", *TEST, "--seeds", 3, "--all")
    assert "paired difference" in made.output
    assert "no test was planned before the runs" in made.output


def test_a_file_for_reports_says_how_to_make_it_again(home: Callable[..., Any]) -> None:
    home("test", "home.toml", *TEST, "--seeds", 3, "-o", "answer.json")
    kept = json.loads(Path("answer.json").read_text())
    assert sorted(kept) == [
        "basis",
        "command",
        "conclusion",
        "factors",
        "format",
        "kind",
        "notes",
        "question",
        "rows",
        "scenarios",
        "seeds",
        "title",
        "versions",
        "warnings",
    ]
    assert kept["command"].startswith("fullpipe test home.toml")
    again = home(*kept["command"].split()[1:])
    assert again.exit_code == 0


def test_a_file_conforms_to_its_schema(home: Callable[..., Any]) -> None:
    words = ("--factor", "cca", "--metric", "goodput", "--metric", "rtt_mean", "--seeds", 3)
    home("test", "home.toml", *words, "-o", "answer.json")
    kept = json.loads(Path("answer.json").read_text())
    printed = json.loads(home("schema", "tests").output)
    schema = Draft202012Validator(printed)
    assert list(schema.iter_errors(kept)) == []
    assert [each.json_path for each in schema.iter_errors({**kept, "format": 1})] == ["$.format"]
    assert set(printed["properties"]) == set(kept)
    assert set(printed["$defs"]["Row"]["properties"]) == set(kept["rows"][0])
    assert {name for name, part in printed["$defs"].items() if not part.get("description")} == set()


def test_a_file_without_a_format_is_read(home: Callable[..., Any]) -> None:
    home("test", "home.toml", *TEST, "--seeds", 3, "-o", "answer.json")
    kept = json.loads(Path("answer.json").read_text())
    assert kept.pop("format") == FORMAT
    Path("old.json").write_text(json.dumps(kept))
    for name in ("answer", "old"):
        made = home("report", f"{name}.json", "-o", f"{name}.md")
        assert made.exit_code == 0, made.output
    assert "format" not in Path("answer.md").read_text()


def test_title_and_question_have_the_names_that_are_shown(home: Callable[..., Any]) -> None:
    rates = 'topology.bottleneck.delay" = ["10 ms", "20 ms"]'
    Path("two.toml").write_text(f'{SCENARIO}"{rates}\n', encoding="utf-8")
    words = ("--metric", "goodput", "--metric", "rtt_mean", "--factor", "cca,delay", "--seeds", 2)
    made = json.loads(home("test", "two.toml", *words, "--json").output)
    assert made["title"] == "home by algorithm x one-way delay"
    assert made["question"] == "Does goodput or mean RTT differ by algorithm and one-way delay?"


def test_a_group_of_flows_has_its_label_in_text_and_its_name_in_json(home: Callable[..., Any]) -> None:
    words = (*TEST, "--of", "reno-1", "--seeds", 3, "--label", "flows.reno-1=the rival")
    text = " ".join(home("test", "home.toml", *words).stdout.split())
    assert "goodput of the rival" in text
    assert "of reno-1" not in text
    made = json.loads(home("test", "home.toml", *words, "--json").stdout)
    assert {row["of"] for row in made["rows"]} == {"reno-1"}


def test_a_family_tells_what_was_planned(home: Callable[..., Any]) -> None:
    words = ("test", "home.toml", "--family", "family.toml", "--metric", "jain", "--factor", "cca")
    made = json.loads(home(*words, "--seeds", 3, "--json").output)
    assert made["question"].startswith("Is BBRv3 faster?")
    assert {(row["metric"], row["planned"], row["family"]) for row in made["rows"]} == {
        ("goodput", True, "speed"),
        ("jain", False, "asked for"),
    }


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_forms(home: Callable[..., Any], form: str) -> None:
    made = home("test", "home.toml", *TEST, "--seeds", 2, "--format", form)
    assert made.exit_code == 0
    assert "bbr3 - cubic" in made.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("home.toml", *TEST, "--seeds", 1), "cubic has one run, so its spread is unknown"),
        (("calm.toml", *TEST, "--seeds", 2), "all seeds gave the same values"),
        (("home.toml", "--metric", "srtt_s", "--factor", "cca"), "is a column of samples over time"),
        (("home.toml", "--metric", "series.srtt_s", "--factor", "cca"), "is a column of samples over time"),
        (("series.parquet", *TEST), "whose samples are not replicates"),
        (("home.toml", "--metric", "gooput", "--factor", "cca"), 'did you mean "goodput"'),
        (("home.toml", "--metric", "goodput", "--factor", "rate"), "unknown factor"),
        (
            ("home.toml", "--metric", "goodput", "--factor", "time_s"),
            "samples of one run are not replicates",
        ),
        (("home.toml", *TEST, "--block", "rate"), "write --block seed"),
        (("home.toml", "--metric", "goodput"), "or --family FILE; runs differ in flows.0.cca"),
        (("nothing", *TEST), "unknown scenario"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(home: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    made = home("test", *words)
    assert made.exit_code == 2
    assert said in " ".join(made.output.replace("│", " ").split())


def test_variants_of_a_store_are_a_factor(home: Callable[..., Any]) -> None:
    slow = '{ "topology.bottleneck.rate" = "5 Mbit/s", "topology.bottleneck.delay" = "20 ms" }'
    fast = '{ "topology.bottleneck.rate" = "20 Mbit/s", "topology.bottleneck.delay" = "5 ms" }'
    text = f"{SCENARIO.partition('[sweep]')[0]}[sweep]\nline = {{ slow = {slow}, fast = {fast} }}\n"
    Path("lines.toml").write_text(text, encoding="utf-8")
    first = home("test", "lines.toml", "--metric", "goodput", "--factor", "line", "--seeds", 2, "--json")
    again = home("test", "runs", "--metric", "goodput", "--factor", "line", "--reference", "slow", "--json")
    assert json.loads(again.output)["rows"] == json.loads(first.output)["rows"]


def test_models_say_which_extra_they_take(home: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels.regression.mixed_linear_model", None)
    rates = 'topology.bottleneck.delay" = ["10 ms", "20 ms"]'
    Path("two.toml").write_text(f'{SCENARIO}"{rates}\n', encoding="utf-8")
    made = home("test", "two.toml", "--metric", "goodput", "--factor", "cca,delay", "--seeds", 2)
    assert made.exit_code == 2
    assert "pip install 'fullpipe[stats]'" in made.output


def test_a_folder_of_one_run_is_no_sample(home: Callable[..., Any]) -> None:
    home("run", "home.toml", "--set", "flows.0.cca=cubic")
    (folder,) = Path("runs").glob("*/native-1")
    made = home("test", folder, *TEST)
    assert made.exit_code == 2
    assert "is a single run, and a test needs several seeds" in made.output


def test_runs_of_several_versions_are_noted(home: Callable[..., Any]) -> None:
    home("run", "home.toml", "--seeds", 2)
    store = Store(Path("runs"))
    run = next(iter(store))
    engine = run.meta.engine.model_copy(update={"version": "0.0"})
    store.save(replace(run, meta=run.meta.model_copy(update={"engine": engine})))
    made = home("test", "runs", *TEST)
    assert made.exit_code == 0
    assert "runs are of several versions of native: 0.0" in made.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "family: Field required"),
        ('[family.a]\nmetrics = ["goodput"]', "family.a.factors: Field required"),
        ('[family.a]\nmetrics = ["goodput"]\nfactors = ["cca"]\nbest = 1', "family.a.best"),
        ("[family", "family.toml: not TOML"),
    ],
)
def test_a_family_that_is_none_is_refused(home: Callable[..., Any], text: str, said: str) -> None:
    Path("family.toml").write_text(text, encoding="utf-8")
    made = home("test", "home.toml", "--family", "family.toml")
    assert made.exit_code == 2
    assert said in made.output


def test_what_strangers_wrote_does_nothing_to_a_terminal(home: Callable[..., Any]) -> None:
    Path("home.toml").write_text(SCENARIO.replace('cca = "reno"', 'cca = "reno"\nname = "\\u001b[2J"'))
    made = home("test", "home.toml", *TEST, "--seeds", 2)
    assert "\x1b" not in made.output
