"""The first study for real, with one seed: what is written of it holds, and it is never run twice.

Only large sockets are run for as long as the paper ran: totals over less have too much of the start in them.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fullpipe import studies
from fullpipe.studies import kato2025
from fullpipe.studies.kato2025 import LARGE, RECEIVE
from fullpipe.sweeps import Update


@pytest.mark.slow
def test_the_study_with_one_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brief = {"duration": "11 s"}
    sockets = {
        name: values if name == LARGE else {**values, **brief} for name, values in kato2025.SOCKETS.items()
    }
    monkeypatch.setattr(kato2025, "SOCKETS", sockets)
    transports = {name: {**values, **brief} for name, values in kato2025.TRANSPORTS.items()}
    monkeypatch.setattr(kato2025, "TRANSPORTS", transports)
    said: list[str] = []
    report = studies.run("kato2025", seeds=1, workers=2, out=tmp_path, echo=said.append)
    assert said[0].splitlines()[-3].startswith("Of 36 printed numbers and claims: ")
    assert str(report.folder / "report.html") in said[0].splitlines()[-2]
    assert len(report.files) == 21
    assert all(path.exists() for path in report.files)

    table = pl.read_csv(report.folder / "table-2.csv")

    def ours(sockets: str, quantity: str) -> pl.Series:
        return table.filter((pl.col("sockets") == sockets) & (pl.col("quantity") == quantity))["ours"]

    for sockets in (LARGE, RECEIVE):
        assert ours(sockets, "below_1").to_list() == [0.0] * 5
    assert ours(LARGE, "total_mbps").min() > 900
    assert ours(LARGE, "jain").min() > 0.95
    assert ours(RECEIVE, "mean_mbps").max() <= 8 * (1 << 20) / 0.12 / 1e6

    states: list[str] = []

    def progress(update: Update) -> None:
        if update.state != "running":
            states.append(update.state)

    monkeypatch.setattr(kato2025.measures, "draw", lambda *_, **__: [])  # once is enough
    again = studies.run("kato2025", seeds=1, out=tmp_path, progress=progress, echo=None)
    assert set(states) == {"stored"}
    assert again.text == report.text
