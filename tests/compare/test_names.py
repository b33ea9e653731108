"""Names of variants and points in sentences and tables: words of users, and raw values in JSON."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe.report.from_file import page_of_file
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.finding import Note
from fullpipe.validation.compare.reading import comparisons_in, findings_in
from fullpipe.validation.compare.sentence import Names

CCA, SIZE = "flows.0.cca", "topology.bottleneck.queue.size"
PAIR = """
name = "pair"
duration = "2 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "4 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", size = "1 bdp" }
[[flows]]
name = "mine"
cca = "cubic"
start_jitter = "500 ms"
[record]
interval = "off"
[sweep]
"topology.bottleneck.queue.size" = ["1 bdp", "4 bdp"]
[labels]
"flows.0.cca.bbr3" = "BBRv3 (mine)"
"topology.bottleneck.queue.size" = "depth"
"""
OVER = ("--over", f"{CCA}=cubic,bbr3", "--seeds", 2, "--jobs", 1)


@pytest.fixture
def pair(fullpipe: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("COLUMNS", "100")
    Path("pair.toml").write_text(PAIR, encoding="utf-8")
    return fullpipe


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({CCA: "bbr3"}, "BBRv3 (mine)"),
        ({CCA: "bbr3", SIZE: "4 bdp"}, "BBRv3 (mine) with buffer 4 BDP"),
        ({"flows.0.count": 2}, "number of flows 2"),
        ({"topology.bottleneck.delay": "40 ms"}, "one-way delay 40 ms"),
        ({"flows.0.ecn": True}, "ecn on"),
        ({"topology.bottleneck.loss.probability": 0.01}, "loss 1 %"),
        ({"topology.bottleneck.queue": {"kind": "drop_tail", "packets": 50}}, "drop_tail 50 packets"),
        ({}, "bbr3"),
    ],
)
def test_a_side_is_named_by_the_values_that_it_sets(settings: dict[str, Any], shown: str) -> None:
    names = Names(Labels({f"{CCA}.bbr3": "BBRv3 (mine)"}), {"bbr3": settings})
    assert names.side("bbr3") == shown


@pytest.mark.parametrize(
    ("other", "reference", "told"),
    [
        ({SIZE: "0.5 bdp", "flows.0.count": 4}, {SIZE: "0.5 bdp", "flows.0.count": 1}, "instead of 1"),
        ({"flows.1.count": 2}, {"flows.1.count": 1}, "CUBIC flows 2 instead of 1"),
    ],
)
def test_what_both_sides_have_in_common_is_said_once(
    other: dict[str, Any], reference: dict[str, Any], told: str
) -> None:
    names = Names(Labels({"flows.1.count": "CUBIC flows"}), {"other": other, "reference": reference})
    assert names.instead("other", "reference").endswith(told)


def test_a_comparison_has_the_words_of_labels_and_json_those_of_the_scenario(
    pair: Callable[..., Any],
) -> None:
    text = pair("compare", "pair.toml", *OVER).stdout
    first = " ".join(text.split("\n\n")[0].split())
    assert first.startswith("BBRv3 (mine) instead of cubic: goodput of mine ")
    assert "\nBBRv3 (mine) against cubic: pair, 2 points, 2 seeds\n" in text
    assert "\ndepth 4 BDP, mine\n" in text
    lines = [json.loads(line) for line in pair("compare", "pair.toml", *OVER, "--json").stdout.splitlines()]
    assert {line["variant"] for line in lines} == {"bbr3"}
    assert [line["point"] for line in lines] == [{SIZE: "1 bdp"}, {SIZE: "4 bdp"}]


def test_labels_of_the_command_are_in_the_file_its_report_and_the_figure(pair: Callable[..., Any]) -> None:
    label = ("--label", f"{CCA}.bbr3=Third", "--label", f"{SIZE}=room")
    over = ("--over", f"{CCA}=cubic,bbr3,vegas", *OVER[2:], "--metric", "goodput")
    pair("compare", "pair.toml", *over, *label, "-o", "pair.json", "--plot", "figures")
    found = json.loads(Path("pair.json").read_text(encoding="utf-8"))
    part = page_of_file(found | {"conclusion": []}).parts[0]
    assert part.conclusion[0].startswith("Against cubic, Third and vegas are ")
    assert part.conclusion[1].startswith("Third instead of cubic: ")
    assert part.table is not None
    assert part.table.columns[1].name == "room"
    assert part.table.rows[0][0] == "Third"
    assert "Third, room 1 BDP, mine" in Path("figures/pair-forest.csv").read_text(encoding="utf-8")


def test_a_group_of_flows_has_one_name_in_output_and_file(pair: Callable[..., Any]) -> None:
    label = ("--label", "flows.mine=OURS")
    text = pair("compare", "pair.toml", *OVER, *label, "-o", "pair.json", "--plot", "figures").stdout
    assert "goodput of OURS " in " ".join(text.split())
    assert "\ndepth 4 BDP, OURS\n" in text
    assert "mine" not in text.replace("(mine)", "")
    assert "mine" not in Path("figures/pair-forest.csv").read_text(encoding="utf-8").replace("(mine)", "")
    found = json.loads(Path("pair.json").read_text(encoding="utf-8"))
    assert {each["of"] for each in found["findings"]} >= {"mine"}
    part = page_of_file(found).parts[0]
    assert part.table is not None
    assert not any(cell == "mine" for row in part.table.rows for cell in row)
    assert any(cell == "OURS" for row in part.table.rows for cell in row)


def test_runs_and_checks_name_a_group_as_comparisons_do(pair: Callable[..., Any]) -> None:
    label = ("--label", "flows.mine=OURS", "--seeds", 2)
    for form in ("table", "csv", "markdown"):
        text = pair("run", "pair.toml", *label, "--format", form).stdout
        assert "OURS" in text
        assert "mine" not in text.replace("(mine)", "")
    suite = 'scenarios = ["pair.toml"]\nseeds = 2\nmost_seeds = 2\n[metrics]\ngoodput = "2 %"\n'
    Path("suite.toml").write_text(suite, encoding="utf-8")
    files = ("--junit", "check.xml", "--markdown", "check.md")
    against = ("--against", "topology.bottleneck.rate=8 Mbit/s")
    checked = pair("check", "suite.toml", *against, *label, *files).stdout
    for told in (checked, *(Path(file).read_text(encoding="utf-8") for file in files[1::2])):
        assert "OURS" in told
        assert "mine" not in told.replace("(mine)", "").replace("flows.mine", "")


def test_labels_of_groups_in_a_scenario_are_accepted(pair: Callable[..., Any]) -> None:
    text = Path("pair.toml").read_text(encoding="utf-8")
    assert "[labels]\n" in text
    labelled = text.replace("[labels]\n", '[labels]\n"flows.mine" = "OURS"\n')
    Path("labelled.toml").write_text(labelled, encoding="utf-8")
    assert "goodput of OURS " in " ".join(pair("compare", "labelled.toml", *OVER).stdout.split())
    Path("wrong.toml").write_text(labelled.replace("flows.mine", "flows.coutn"), encoding="utf-8")
    told = " ".join(pair("compare", "wrong.toml", *OVER).stderr.split())
    assert 'labels."flows.coutn": unknown key' in told


def test_notes_keep_their_metric_when_groups_are_named() -> None:
    note = Note("rtt_mean of ", "rtt_mean", {"a": (1, 2)}, ["mine", "ping -> call"], " is left out")
    shown = Names(Labels({"flows.mine": "OURS", "flows.call": "CALL"})).note(note.of_case("home"))
    assert shown == "home: rtt_mean of OURS, ping -> CALL is left out"
    assert (shown.metric, shown.lacking) == ("rtt_mean", {"a": (1, 2)})


def test_a_label_of_the_command_comes_before_that_of_the_scenario(pair: Callable[..., Any]) -> None:
    text = pair("compare", "pair.toml", *OVER, "--label", f"{CCA}.bbr3=Third").stdout
    assert "Third instead of cubic: " in text
    assert "BBRv3" not in text


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "pair.toml", *OVER),
        ("compare", "pair.toml", "--baseline", "b.json", "--seeds", 2),
        ("run", "pair.toml", "--seeds", 2),
        ("test", "pair.toml", "--factor", SIZE, "--metric", "goodput", "--seeds", 2),
    ],
    ids=lambda command: " ".join(map(str, command[:3])),
)
def test_a_label_of_nothing_is_refused(pair: Callable[..., Any], command: tuple[object, ...]) -> None:
    made = pair(*command, "--jobs", 1, "--label", "flows.0.cca.bbr4=Fourth")
    assert made.exit_code == 2
    assert "flows.0.cca.bbr4: no run has this path or value" in " ".join(made.stderr.split())


def test_a_file_keeps_what_the_names_are_made_of(pair: Callable[..., Any]) -> None:
    pair("compare", "pair.toml", *OVER, "-o", "pair.json")
    found = json.loads(Path("pair.json").read_text(encoding="utf-8"))
    assert found["settings"] == {"cubic": {CCA: "cubic"}, "bbr3": {CCA: "bbr3"}}
    assert found["conclusion"][0].startswith("BBRv3 (mine) instead of cubic: ")
    assert found["title"] == "pair: BBRv3 (mine) against cubic"
    assert found["rows"][0]["side"] == "bbr3"
    part = page_of_file(found | {"conclusion": []}).parts[0]
    assert part.conclusion[0].startswith("BBRv3 (mine) instead of cubic: ")
    assert part.table is not None
    assert "BBRv3 (mine)" in str(part.table)


@pytest.mark.parametrize(
    ("settings", "scenario"),
    [
        ([1], {}),
        ({"bbr3": {CCA: "bbr3", "flows.0.count": 10**400}}, {}),
        ({"bbr3": [1]}, {"labels": [2]}),
        ({}, {"labels": {CCA: 3}, "flows": [4], "topology": [5]}),
    ],
)
def test_a_file_with_strange_names_is_read(
    pair: Callable[..., Any], settings: object, scenario: dict[str, object]
) -> None:
    pair("compare", "pair.toml", *OVER, "-o", "pair.json")
    found = json.loads(Path("pair.json").read_text(encoding="utf-8"))
    found |= {"settings": settings, "scenarios": [{"side": "bbr3", "scenario": scenario}], "conclusion": []}
    made = comparisons_in(found, findings_in(found)[0])
    assert made[0].others == ("bbr3",)
    assert re.match(
        r"bbr3( with number of flows 10+)? instead of cubic: ", page_of_file(found).parts[0].conclusion[0]
    )


def test_levels_of_a_test_have_the_words_of_labels(pair: Callable[..., Any]) -> None:
    swept = PAIR.replace("[sweep]", f'[sweep]\n"{CCA}" = ["cubic", "bbr3"]')
    Path("pair.toml").write_text(swept, encoding="utf-8")
    words = ("test", "pair.toml", "--factor", CCA, "--metric", "goodput", "--seeds", 2, "--jobs", 1)
    text = " ".join(pair(*words).stdout.split())
    assert "with BBRv3 (mine) instead of cubic, goodput of mine" in text
    assert " BBRv3 (mine) - cubic " in text
    made = json.loads(pair(*words, "--json").stdout)
    assert {tuple(row["levels"]) for row in made["rows"] if row["levels"]} == {("cubic", "bbr3")}
    assert made["title"] == "pair by algorithm"


def test_points_of_runs_have_the_words_of_labels(pair: Callable[..., Any]) -> None:
    text = pair("run", "pair.toml", "--seeds", 2, "--jobs", 1, "--metric", "rtt_mean").stdout
    assert "rises from 34.75 [34.45, 35.05] ms at depth 1 BDP to " in " ".join(text.split())
    assert "\ndepth " in text


@pytest.mark.parametrize(
    "words",
    [
        ("table", "runs", "--metric", "goodput of both"),
        ("plot", "runs", "--kind", "means", "--metric", "goodput of both"),
        ("report", "runs", "--metric", "goodput of both"),
        ("compare", "pair.toml", *OVER, "--metric", "goodput of both"),
    ],
    ids=lambda words: words[0],
)
def test_a_label_that_two_groups_share_names_neither(
    fullpipe: Callable[..., Any], words: tuple[str, ...]
) -> None:
    beside = '[[flows]]\nname = "beside"\ncca = "reno"\n[record]'
    labels = '[labels]\n"flows.mine" = "both"\n"flows.beside" = "both"'
    text = PAIR.replace("[record]", beside).replace("[labels]", labels)
    Path("pair.toml").write_text(text, encoding="utf-8")
    assert fullpipe("run", "pair.toml", "--seeds", 2, "--jobs", 1).exit_code == 0
    result = fullpipe(*words)
    assert result.exit_code == 2
    assert '"both": 2 groups have this label: mine, beside; name one of them' in result.stderr
    if words[0] in ("table", "report"):
        assert fullpipe(*words[:-1], "goodput of mine").exit_code == 0


def test_the_suggested_command_compares_the_values_of_the_sweep(fullpipe: Callable[..., Any]) -> None:
    sweep = '[sweep]\n"flows.0.tcp.timestamps" = [true, false]\n[labels]'
    text = re.sub(r"\[sweep\]\n.*\n\[labels\]", sweep, PAIR)
    Path("pair.toml").write_text(text, encoding="utf-8")
    told = fullpipe("compare", "pair.toml", "--set", "duration=3 s", "--seeds", 2)
    command = " ".join(told.stderr.split()).partition("values of flows.0.tcp.timestamps: ")[2]
    assert command == (
        "fullpipe compare pair.toml --set 'duration=3 s' --over flows.0.tcp.timestamps=true,false"
    )
    assert fullpipe(*shlex.split(command)[1:], "--seeds", 2, "--jobs", 1).exit_code in (0, 1)


def test_a_metric_that_a_group_lacks_is_no_fault_of_over(pair: Callable[..., Any]) -> None:
    result = pair("compare", "pair.toml", *OVER, "--metric", "goodput of bottleneck")
    assert result.exit_code == 2
    assert result.stderr.startswith('fullpipe: no run has goodput of "bottleneck"')


@pytest.mark.parametrize("words", [("test", "runs", "--family"), ("check", "--against", "a.json")])
def test_a_missing_file_that_is_no_scenario_gets_no_list_of_scenarios(
    pair: Callable[..., Any], words: tuple[str, ...]
) -> None:
    pair("run", "pair.toml", "--seeds", 1, "--jobs", 1)
    result = pair(*words, "nope.toml")
    assert result.exit_code == 2
    assert result.stderr == "fullpipe: nope.toml: no such file\n"


def test_the_suggested_test_of_a_store_quotes_its_folder(fullpipe: Callable[..., Any]) -> None:
    Path("pair.toml").write_text(PAIR, encoding="utf-8")
    fullpipe("run", "pair.toml", "--seeds", 1, "--jobs", 1, "--out", "my runs")
    told = " ".join(fullpipe("compare", "my runs").stderr.split())
    assert f"fullpipe test 'my runs' --metric goodput --factor {SIZE}" in told


def test_a_value_that_no_run_of_a_test_has_gets_the_known_values(pair: Callable[..., Any]) -> None:
    pair("run", "pair.toml", "--seeds", 2, "--jobs", 1)
    result = pair("test", "runs", "--metric", "goodput", "--factor", SIZE, "--where", f"{SIZE}=none")
    assert result.exit_code == 2
    assert "size=none: no run has this value; there is 1 bdp, 4 bdp" in " ".join(result.stderr.split())
