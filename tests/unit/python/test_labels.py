"""Words for paths and values: of the model, of a scenario's `[labels]`, and what those may name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.scenario.labels import Labels, algorithm_title, title_of, unit_of
from fullpipe.scenario.schema import file_schema

BASE: dict[str, Any] = {
    "name": "named",
    "duration": "1 s",
    "topology": {"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}},
    "flows": [{"cca": "bbr3"}, {"cca": "cubic", "count": 2}],
}
LOSS, QUEUE = "topology.bottleneck.loss.probability", "topology.bottleneck.queue"


@pytest.fixture
def labels() -> Labels:
    return Labels(scenarios=[Scenario(**BASE).to_dict()])


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("flows.1.count", 4, "CUBIC flows 4"),
        (LOSS, 0.001, "loss 0.1 %"),
        (LOSS, 0.0, "loss 0 %"),
        (f"{QUEUE}.packets", 50, "buffer 50 packets"),
        (f"{QUEUE}.size", "0.5 bdp", "buffer 0.5 BDP"),
        (QUEUE, {"kind": "drop_tail", "packets": 50}, "queue drop_tail 50 packets"),
        (QUEUE, "fq_codel", "queue fq_codel"),
        ("topology.bottleneck.delay", "20 ms", "one-way delay 20 ms"),
        ("flows.0.cca", "bbr3", "algorithm bbr3"),
        ("flows.*.cca", "python:brake:Brake", "algorithm Brake"),
        ("flows.0.cca, flows.1.cca", "reno", "algorithm reno"),
        ("tcp.undo", True, "undo on"),
        ("topology.bottleneck.jitter.spread", None, "jitter default"),
        ("line", "slow", "line slow"),
    ],
)  # fmt: skip
def test_a_value_is_named_with_its_unit(labels: Labels, path: str, value: object, words: str) -> None:
    assert labels.at(path, value) == words


def test_flows_are_counted_by_algorithm_or_name() -> None:
    def name(*flows: dict[str, str]) -> str:
        return Labels(scenarios=[{"flows": list(flows)}]).name("flows.0.count")

    assert name({"cca": "bbr3"}, {"cca": "cubic"}) == "BBRv3 flows"
    assert name({"cca": "cubic", "name": "bulk"}, {"cca": "cubic"}) == "bulk flows"
    assert name({"cca": "cubic"}, {"cca": "cubic"}) == "number of flows"


def test_a_named_entry_has_one_name_in_every_part_of_a_sweep() -> None:
    def name(*algorithms: str) -> str:
        trees = [{"flows": [{"cca": cca}, {"cca": "cubic", "name": "others"}]} for cca in algorithms]
        return Labels(scenarios=trees).name("flows.1.count")

    assert {name("bbr3"), name("cubic"), name("bbr3", "cubic")} == {"others flows"}


def test_flows_whose_algorithm_is_swept_are_not_called_by_one_of_them() -> None:
    trees = [{"flows": [{"cca": cca}]} for cca in ("cubic", "reno")]
    assert Labels(scenarios=trees).name("flows.0.count") == "number of flows"


def test_paths_of_one_title_say_whose_they_are(labels: Labels) -> None:
    found = labels.names(["topology.bottleneck.rate", "topology.reverse.rate", "flows.0.cca"])
    assert list(found.values()) == ["rate of bottleneck", "rate of reverse link", "algorithm"]
    named = Labels(scenarios=[{"flows": [{"name": "mine"}, {"name": "other"}]}])
    assert [*named.names(["flows.0.cca", "flows.1.cca"]).values()] == [
        "algorithm of mine",
        "algorithm of other",
    ]


@pytest.mark.parametrize(
    ("path", "values", "label"),
    [
        (f"{QUEUE}.packets", [50, 100], "buffer (packets)"),
        (LOSS, [0.0, 0.001], "loss (%)"),
        (f"{QUEUE}.size", ["1 bdp", "2 bdp"], "buffer (BDP)"),
        ("flows.1.count", [1, 2], "CUBIC flows"),
        ("flows.0.cca", ["cubic", "bbr3"], "algorithm"),
    ],
)
def test_axes_of_numbers_have_a_unit(labels: Labels, path: str, values: list[Any], label: str) -> None:
    assert labels.axis(path, values) == label


def test_given_words_come_first() -> None:
    given = {"flows.*.cca": "sender", "cca.bbr3": "BBRv3", f"{LOSS}.0": "no loss", "rate": "line rate"}
    labels = Labels(given)
    assert labels.name("flows.1.cca") == "sender"
    assert labels.at("flows.0.cca", "bbr3") == "BBRv3"
    assert labels.at("flows.0.cca", "cubic") == "sender cubic"
    assert labels.value(LOSS, 0.0) == "no loss"
    assert labels.value(LOSS, 10.0) == "1000 %"
    assert labels.at("topology.bottleneck.rate", "5 Mbit/s") == "line rate 5 Mbit/s"


def test_labels_that_name_nothing_are_found() -> None:
    given = {"cca.bbr3": "BBRv3", "flows.0.cca": "sender", "cca.bbr4": "BBRv4", "flows.1.cca": "other"}
    assert Labels(given).unknown([{"flows.0.cca": "bbr3"}]) == ["cca.bbr4", "flows.1.cca"]


def test_a_scenario_says_labels_which_are_no_part_of_what_is_simulated(tmp_path: Path) -> None:
    plain = Scenario(**BASE)
    text = (
        plain.to_toml()
        + '\n[labels]\n"flows.1.count" = "CUBIC flows"\n"topology.bottleneck.trace.file" = "a trace"\n'
    )
    (tmp_path / "named.toml").write_text(text, encoding="utf-8")
    named = Scenario.from_file(tmp_path / "named.toml")
    assert named.digest == plain.digest
    assert named.labels["topology.bottleneck.trace.file"] == "a trace", "words are not looked up as files"
    assert Scenario.from_toml(named.to_toml()) == named
    assert "labels" not in plain.to_dict()


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("flows.1.cont", 'labels."flows.1.cont": unknown key "cont"; did you mean "count"?'),
        ("flow.1.count", 'labels."flow.1.count": unknown key "flow"; did you mean "flows"?'),
        ("topology.botleneck.rate", 'unknown key "botleneck"; did you mean "bottleneck"?'),
    ],
)
def test_a_label_of_nothing_is_an_error(key: str, told: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario(**BASE, labels={key: "words"}, sweep={"duration": ["1 s", "2 s"]})
    problem, *_ = error.value.problems
    assert told in problem


@pytest.mark.parametrize(
    "key", ["flows.1.count.4", f"{LOSS}.0.001", f"{QUEUE}.fq_codel", "flows.*.cca.bbr3", "line.slow", "line"]
)
def test_a_label_names_a_path_or_a_value(key: str) -> None:
    variants = {"slow": {"duration": "1 s"}, "fast": {"duration": "2 s"}}
    assert Scenario(**BASE, sweep={"line": variants}, labels={key: "words"}).labels == {key: "words"}


@pytest.mark.parametrize("words", ["", "two\nlines", "x" * 101, 5])
def test_words_are_one_line_of_text(words: object) -> None:
    with pytest.raises(ScenarioError, match=r"labels"):
        Scenario(**BASE, labels={"flows.1.count": words})


def test_the_schema_of_files_has_labels() -> None:
    declared = file_schema()["definitions"]["ScenarioModel"]["properties"]["labels"]
    assert declared["additionalProperties"]["maxLength"] == 100
    assert "flows.1.count" in declared["description"]


def test_what_is_found_in_the_model() -> None:
    assert (title_of("topology.bottleneck.queue.kind"), title_of("flows.0.cca.preset")) == ("queue", "preset")
    assert unit_of(LOSS).text(0.25) == "25 %"
    assert unit_of("flows.0.cca.bbr3").name == ""
    assert [algorithm_title(name) for name in ("bbr1", "copa", "library:x.so:mine")] == [
        "BBRv1",
        "Copa",
        "mine",
    ]


def test_a_group_is_found_by_name_first_then_by_label() -> None:
    labels = Labels({"flows.mine": "beside", "flows.a": "both", "flows.b": "both"})
    assert labels.groups_called("beside", [["mine", "beside"]]) == ["beside"]
    assert labels.groups_called("beside", [["mine"]]) == ["mine"]
    assert labels.groups_called("both", [["a", "c"], ["b", "c"]]) == ["a", "b"]
    assert labels.groups_called("other", [["mine"]]) == ["other"]


def test_a_label_of_two_groups_of_a_run_names_neither() -> None:
    labels = Labels({"flows.a": "both", "flows.b": "both"})
    with pytest.raises(ScenarioError, match='"both": 2 groups have this label: a, b; name one of them'):
        labels.groups_called("both", [["c"], ["a", "b"]])
