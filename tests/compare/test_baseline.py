"""A baseline: kept by the first comparison, compared with by the next."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import fullpipe as fp
from fullpipe import Scenario, ScenarioError
from fullpipe.cli import app
from fullpipe.cli.comparing import Points, against
from fullpipe.validation import baseline as baselines
from fullpipe.validation.baseline import baseline_of
from fullpipe.validation.over import HEADLINES

BASE: dict[str, Any] = {
    "name": "kept",
    "duration": "4 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms", "queue": {"size": "1 bdp"}},
    },
    "flows": [{"cca": "cubic", "count": 2, "start_jitter": "1 s"}],
    "record": {"interval": "off"},
}


@pytest.fixture
def command(tmp_path: Path) -> Any:
    (tmp_path / "kept.toml").write_text(Scenario(**BASE).to_toml(), encoding="utf-8")
    fixed = ["--out", str(tmp_path / "runs"), "--jobs", "1", "--baseline", str(tmp_path / "base.json")]

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, ["compare", str(tmp_path / "kept.toml"), *words, *fixed])

    return run


def test_the_first_comparison_keeps_and_the_next_compares(command: Any, tmp_path: Path) -> None:
    kept = command("--seeds", "3")
    assert (kept.exit_code, (tmp_path / "base.json").exists()) == (0, True)
    found = json.loads(command("--json").output)
    assert {row["verdict"] for row in found["rows"]} == {"equivalent"}
    assert found["seeds"] == [1, 2, 3]


def test_what_has_become_worse_is_exit_1(command: Any) -> None:
    command("--seeds", "3")
    assert command("--set", "topology.bottleneck.rate=5 Mbit/s").exit_code == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--seeds", "4"), "has 3 seeds"),
        (("--set", "duration=5 s"), "duration: 5 s"),
        (("--set", 'sweep={"flows.0.cca" = ["cubic", "reno"]}'), "has other sweep points"),
        (("--over", "flows.0.cca=cubic,reno"), "either --over or --baseline"),
        (("--reference", "linux"), "needs --engines"),
        (("--metric", "fct_p50"), "no run has fct_p50"),
    ],
)
def test_what_is_no_pair_is_refused(command: Any, words: tuple[str, ...], line: str) -> None:
    command("--seeds", "3")
    result = command(*words)
    assert result.exit_code == 2
    assert line in result.output


@pytest.mark.parametrize("text", ["", "{}", '{"format": 2}', "[1]"])
def test_a_file_that_is_no_baseline_is_refused(command: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "base.json").write_text(text, encoding="utf-8")
    result = command()
    assert result.exit_code == 2
    assert "not a baseline" in result.output


HOSTILE: list[Any] = [
    *(2**70, -(2**70), 2**63, 10**400, -1, 10_000, 1.5, 1e308, -1e308, 5e-324, float("nan"), float("inf")),
    *(True, None, "", "text", "x" * 2_000, "\x1b[2J", [], {}, [[1]], {"a": 1}),
]
"""Numbers and types that a damaged or made-up file may have anywhere."""
PLACES = [
    *("format", "engine", "version", "points", "points.0", "points.0.point", "points.0.scenario"),
    *("points.0.scenario.duration", "points.0.scenario.flows", "points.0.rows", "points.0.rows.1"),
    *(f"points.0.rows.1.{column}" for column in range(8)),
]


def changed(tree: Any, place: str, value: object) -> Any:
    """A copy of a tree with another value at a place."""
    made = deepcopy(tree)
    node, *parts = made, *place.split(".")
    keys = [int(part) if part.isdecimal() else part for part in parts]
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = value
    return made


@pytest.fixture(scope="module")
def points() -> Points:
    """Three finished runs of one point."""
    return [({}, fp.sweep(Scenario(**BASE), range(1, 4)))]


def refused_or_compared(file: Path, points: Points) -> list[str]:
    """How the lines begin in which a file is refused; none if it can be compared and written as JSON."""
    try:
        found = against(file, points, HEADLINES, {})
    except ScenarioError as error:
        return [line[: len(f"{file}: ")] for line in error.problems]
    json.dumps([one.to_dict() for one in found], allow_nan=False)
    return []


@pytest.mark.parametrize("place", PLACES)
def test_any_value_anywhere_is_compared_or_refused_in_one_line(
    points: Points, tmp_path: Path, place: str
) -> None:
    file, tree = tmp_path / "base.json", baseline_of(points).model_dump(mode="json")
    for value in HOSTILE:
        file.write_text(json.dumps(changed(tree, place, value)), encoding="utf-8")
        assert refused_or_compared(file, points) in ([], [f"{file}: "]), value


def test_the_refusal_says_where_and_what(points: Points, tmp_path: Path) -> None:
    file, tree = tmp_path / "base.json", baseline_of(points).model_dump(mode="json")
    file.write_text(json.dumps(changed(tree, "points.0.rows.1.3", 2**70)), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"not a baseline: points\.0\.rows\.1\.3: input should be"):
        baselines.read(file)


def test_runs_are_paired_by_seed_and_not_by_place(points: Points, tmp_path: Path) -> None:
    """A metric that has one seed twice and another one not at all is left out with a note."""
    tree = baseline_of(points).model_dump(mode="json")
    goodput = [row for row in tree["points"][0]["rows"] if row[5] == "goodput"]
    goodput[0][0] = goodput[-1][0]
    (tmp_path / "base.json").write_text(json.dumps(tree), encoding="utf-8")
    (found,) = against(tmp_path / "base.json", points, ["goodput", "rtt_mean"], {})
    assert {row.metric for row in found.rows} == {"rtt_mean"}
    assert "only 2 of 3 runs of native" in found.notes[0]
