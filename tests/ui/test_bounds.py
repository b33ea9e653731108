"""Intervals of verdicts on the page end at the bounds of their metric."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fullpipe.cli.ui.catalogue import catalogue

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = (ROOT / "web/src/parts/numbers.js").as_uri()


def test_the_page_is_given_the_bounds_of_metrics() -> None:
    bounds = catalogue()["bounds"]
    assert bounds["jain"] == [0, 1]
    assert bounds["call_score"] == [1, 4.5]
    assert bounds["rtt_mean"] == [0, None]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_intervals_of_differences_are_truncated() -> None:
    def row(metric: str, reference: float, interval: dict[str, float] | None) -> dict[str, Any]:
        return {"metric": metric, "reference": reference, "interval": interval}

    wide = {"low": -2.0, "high": 2.0}
    rows = [
        row("jain", 0.75, wide),
        row("rtt_mean", 0.5, wide),
        row("other", 0.5, wide),
        row("jain", 1, None),
    ]
    told = json.dumps([rows, catalogue()["bounds"]])
    program = (
        f"import {{ bounded }} from {json.dumps(NUMBERS)}; const [rows, bounds] = {told};"
        " console.log(JSON.stringify(rows.map((row) => bounded(row, bounds).interval)))"
    )
    words = ["node", "--input-type=module", "-e", program]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    ends = [of and (of["low"], of["high"]) for of in found]
    assert ends == [(-0.75, 0.25), (-0.5, 2), (-0.5, 2), None]
