"""Figures of captured packets: what they show is when packets left and came."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe import Run, Scenario, plots, run
from fullpipe.analysis.packets import delays
from fullpipe.cli import app
from fullpipe.plots import links
from fullpipe.plots.packets import deliveries, in_clumps, on_the_way
from fullpipe.plots.variables import channel, waits
from tests.quick_figures import make_figures_quick

ENDS = ["sender", "receiver"]
PHONE = {
    "duration": "1.6 s",
    "warmup": "0 s",
    "record": {"interval": "20 ms", "packets": ENDS, "variables": True},
    "cells.0.users.0.handovers": [{"at": "1 s", "gap": "60 ms"}],
    "cells.0.users.0.snr": "20 dB",
    "cells.0.background.users": 0,
}
NS = 1_000_000_000


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Run:
    scenario = Scenario.named("nr-100mhz").with_values(PHONE)
    return run(scenario, out=tmp_path_factory.mktemp("runs"))


def table(rows: Sequence[tuple[float, str, int]]) -> pl.DataFrame:
    """Data of one flow: time, point and sequence number; packets of 1000 B."""
    made = [(round(t * NS), point, "f", 1, "sender", "data", seq, 900, 1000) for t, point, seq in rows]
    names = ["time_ns", "point", "flow", "connection", "source", "kind", "seq", "len", "size"]
    return pl.DataFrame(made, schema=names, orient="row")


def test_what_was_sent_again_took_from_its_last_time() -> None:
    lost = [(0.0, "sender", 0), (0.1, "sender", 900), (0.2, "sender", 0), (0.15, "receiver", 900)]
    found = delays(table([*lost, (0.25, "receiver", 0)]))
    assert found["delay_s"].to_list() == pytest.approx([0.05, 0.05])
    # In vain: both came, each from its own time.
    found = delays(table([*lost, (0.21, "receiver", 0), (0.25, "receiver", 0)]))
    assert found["delay_s"].to_list() == pytest.approx([0.05, 0.21, 0.05])


def test_what_never_came_has_no_delay() -> None:
    found = delays(table([(0.0, "sender", 0), (0.1, "sender", 900), (0.3, "receiver", 900)]))
    assert found["delay_s"].to_list() == pytest.approx([0.2])
    with pytest.raises(ValueError, match=r'record\.packets = \["sender", "receiver"\]'):
        delays(table([(0.0, "sender", 0)]))


def test_acks_closer_than_a_slot_are_one_clump() -> None:
    times = [0.0, 20e-6, 60e-6, 0.005, 0.00502, 0.010]
    found = in_clumps(pl.DataFrame({"flow": ["f"] * 6, "time_s": times}))
    assert found["acks"].to_list() == [3, 2, 1]
    assert found["after_ms"].to_list() == [None, pytest.approx(5), pytest.approx(5)]


def test_deliveries_at_the_same_time_are_one() -> None:
    rows = [(0.0, "sender", 900 * n) for n in range(4)]
    came = [
        (0.01, "receiver", 0),
        (0.01, "receiver", 900),
        (0.014, "receiver", 1800),
        (0.02, "receiver", 2700),
    ]
    found = deliveries(delays(table([*rows, *came])))
    assert found["bytes"].to_list() == [2000, 1000, 1000]
    assert found["pause_ms"].to_list() == [None, pytest.approx(4), pytest.approx(6)]


def test_bytes_on_the_way_by_hand() -> None:
    rows = [(0.0, "sender", 0), (0.01, "sender", 900), (0.03, "receiver", 0), (0.05, "receiver", 900)]
    times_s, under_way = on_the_way(delays(table(rows)))
    assert list(times_s) == pytest.approx([0.0, 0.01, 0.03, 0.05])
    assert list(under_way) == [1000, 2000, 1000, 0]


def test_no_delay_is_shorter_than_the_path(phone: Run) -> None:
    """8 ms of wire, half a slot in the mean, a slot of 0.5 ms and 0.1 ms until it is decoded."""
    figure, data = plots.PACKET_FIGURES["one-way"](plots.presented(phone))
    assert float(data["delay_ms"].to_numpy().min()) >= 8.6
    assert set(data["flow"]) == {"download", "probe"}
    assert len(figure.axes) == 2


def test_acks_of_a_pattern_come_as_often_as_it_has_a_slot_up(phone: Run) -> None:
    """DDDSU of 0.5 ms: S has 2 symbols up and U 14, so that clumps are multiples of 0.5 and 2.5 ms apart."""
    _, data = plots.PACKET_FIGURES["clumps"](plots.presented(phone))
    after = data["after_ms"].drop_nulls().to_numpy()
    halves = after / 0.5
    assert np.median(np.abs(halves - halves.round())) < 0.05
    assert np.median(after) >= 2.5 - 0.1


def test_the_longest_pause_is_the_handover(phone: Run) -> None:
    _, data = plots.PACKET_FIGURES["pauses"](plots.presented(phone))
    longest = data.sort("pause_ms", descending=True, nulls_last=True).row(0, named=True)
    assert 60 <= longest["pause_ms"] <= 80
    assert 1.0 < longest["time_s"] < 1.1
    figure, around = plots.PACKET_FIGURES["handover"](plots.presented(phone))
    late = around.filter(pl.col("quantity") == "delay_ms", pl.col("flow") == "probe")
    assert float(late["value"].to_numpy().max()) >= 60 - 20  # a probe every 20 ms
    assert len(figure.axes) == 2
    (legend,) = figure.legends
    assert legend.get_texts()[-1].get_text() == "longest pause of download"


def test_the_pause_at_a_time_is_drawn_if_one_is_chosen(phone: Run, tmp_path: Path) -> None:
    _, at = plots.handover(plots.presented(phone), 1.03)
    assert 1.0 < float(at["time_s"].to_numpy().mean()) < 1.5
    _, early = plots.handover(plots.presented(phone), 0.5)
    assert 0.4 < float(early["time_s"].to_numpy().mean()) < 0.6
    wrong = (("9 s", "handover", "no packet arrived at 9 s"), ("1 s", "pauses", "--kind handover"))
    for time, kind, told in wrong:
        command = ["plot", str(phone.folder), "--kind", kind, "--at", time, "--out", str(tmp_path)]
        found = CliRunner().invoke(app, command)
        assert found.exit_code == 2
        assert told in " ".join(found.output.split())


def test_channel_and_waits_are_of_mobile_cells_too(phone: Run) -> None:
    _, data = channel(plots.presented(phone))
    assert set(data["panel"]) == {"snr", "mcs"}
    _, data = waits(plots.presented(phone))
    ports = data.filter(pl.col("quantity") == "sojourn")["actor"].unique()
    assert set(ports) == {"mast-phone-down", "mast-phone-up"}
    with pytest.raises(ValueError, match="no variables of a Wi-Fi cell"):
        links.airtime(plots.presented(phone))


@pytest.mark.parametrize("kind", plots.PACKET_FIGURES)
def test_the_command_draws_them(
    kind: str, phone: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_figures_quick(monkeypatch, layouts=1)
    told = CliRunner().invoke(app, ["plot", str(phone.folder), "--kind", kind, "--out", str(tmp_path)])
    assert told.exit_code == 0, told.output
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".svg", ".pdf", ".csv"}


@pytest.mark.parametrize("kind", plots.PACKET_FIGURES)
def test_what_was_not_captured_is_said_in_one_line(kind: str, tmp_path: Path) -> None:
    bare = run(Scenario.named("single-cubic").with_values({"duration": "1 s", "warmup": "0 s"}), out=tmp_path)
    told = CliRunner().invoke(app, ["plot", str(bare.folder), "--kind", kind, "--out", str(tmp_path / "f")])
    assert told.exit_code == 2
    assert "record.packets" in told.output
