"""A baseline: kept by the first comparison, compared with by the next."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fullpipe import Scenario
from fullpipe.cli import app

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
        (("--set", 'sweep={"flows.0.cca" = ["cubic", "reno"]}'), "other points"),
        (("--over", "flows.0.cca=cubic,reno"), "one of --over and --baseline"),
        (("--reference", "linux"), "goes with --engines"),
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
