"""Calls beside a download: what comparisons show of them to people, and what they keep."""

import json
from pathlib import Path

from typer.testing import CliRunner

from fullpipe.cli import app

CALL = """name = "call"
duration = "6 s"
warmup = "1 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { size = "20 bdp" } }

[[flows]]
cca = "cubic"
start_jitter = "100 ms"

[[flows]]
name = "call"
workload = "voip"
start_jitter = "20 ms"
"""


def test_calls_are_compared_unless_other_metrics_are_named(tmp_path: Path) -> None:
    file, kept = tmp_path / "call.toml", tmp_path / "kept.json"
    file.write_text(CALL, encoding="utf-8")
    over = 'topology.bottleneck.queue={ size = "20 bdp" },"fq_codel"'
    words = ["compare", str(file), "--over", over, "--seeds", "3", "--out", str(tmp_path / "runs")]
    shown = CliRunner().invoke(app, [*words, "-o", str(kept)]).output
    rows = json.loads(kept.read_text(encoding="utf-8"))["rows"]
    of_call = {row["metric"]: row for row in rows if row["of"] == "call"}
    assert {"call_score", "owd_mean", "loss_rate"} <= set(of_call)
    assert of_call["call_score"]["verdict"] == "better"
    scores = [of_call["call_score"][side] for side in ("reference", "variant")]
    assert all(score != round(score, 1) for score in scores)
    line, *margins = (
        line.split() for line in shown.splitlines() if line.startswith((" call_score", "margin"))
    )
    assert line[1:3] == [f"{score:.1f}" for score in scores]
    assert "0.1" in [*line, *(word.rstrip(";") for words in margins for word in words)]


def test_verdicts_are_whole_in_a_narrow_terminal_however_long_names_are(tmp_path: Path) -> None:
    file = tmp_path / "call.toml"
    file.write_text(CALL, encoding="utf-8")
    long = '{ kind = "codel", target_ms = 20, interval_ms = 200 }'
    over = f'topology.bottleneck.queue={{ size = "20 bdp" }},{long}'
    words = ["compare", str(file), "--over", over, "--seeds", "3", "--all", "--out", str(tmp_path / "runs")]
    lines = CliRunner().invoke(app, words, env={"COLUMNS": "80"}).output.splitlines()
    (title,) = (line for line in lines if " against " in line)
    assert len(title.partition(" against ")[0]) > 10
    assert any(line.split()[:2] == ["reference", "other"] for line in lines)
    delays = [line for line in lines if line.startswith(" owd_mean")]
    assert [delay.split()[-1] for delay in delays] == ["better"] * 2
    assert max(map(len, delays)) <= 80
