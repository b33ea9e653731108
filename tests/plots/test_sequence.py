"""Packets of a connection over time: what was sent, sent again and acknowledged is what the run counted."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe import Run, Scenario, plots, run
from fullpipe.analysis.packets import round_trip_s, segments
from fullpipe.cli import app
from fullpipe.plots.packets import _TRIPS_AFTER, _TRIPS_BEFORE, sequence

MS = 1_000_000
SENDER, RECEIVER = ("sender", "data"), ("receiver", "ack")


def row(
    at_ms: int, what: tuple[str, str], seq: int, ack: int = 0, sacks: str = "", flow: str = "f"
) -> tuple[object, ...]:
    """A packet at the sender, with 1,000 B if it is data."""
    source, kind = what
    return (at_ms * MS, "sender", flow, 1, source, kind, seq, 1000 if kind == "data" else 0, ack, sacks)


def table(*rows: tuple[object, ...]) -> pl.DataFrame:
    names = ["time_ns", "point", "flow", "connection", "source", "kind", "seq", "len", "ack", "sacks"]
    return pl.DataFrame(rows, schema=names, orient="row")


LOST = (
    row(0, SENDER, 0),
    row(1, SENDER, 1000),
    row(2, SENDER, 2000),
    row(10, RECEIVER, 0, 0, "1000-2000"),
    row(11, RECEIVER, 0, 0, "1000-3000 5000-6000"),
    row(12, SENDER, 0),
    row(30, RECEIVER, 0, 3000),
)


def test_what_was_sent_before_is_sent_again() -> None:
    found = segments(table(*LOST))
    assert found.filter(pl.col("what") == "sent again").rows() == [(0.012, "sent again", 0, 1000)]
    assert found.filter(pl.col("what") == "data")["from_byte"].to_list() == [0, 1000, 2000]
    assert found["time_s"].is_sorted()


def test_every_sack_block_is_a_row() -> None:
    found = segments(table(*LOST)).filter(pl.col("what") == "SACK")
    assert found.select("from_byte", "to_byte").rows() == [(1000, 2000), (1000, 3000), (5000, 6000)]


def test_a_round_trip_lasts_from_data_to_the_ack_that_covers_them() -> None:
    plain = [row(10 * n, SENDER, 1000 * n) for n in range(3)]
    acks = [row(10 * n + 25, RECEIVER, 0, 1000 * (n + 1)) for n in range(3)]
    assert round_trip_s(segments(table(*plain, *acks))) == pytest.approx(0.025)
    assert round_trip_s(segments(table(*plain))) == 0


def test_it_is_of_the_flow_with_most_data_or_of_the_one_that_is_named() -> None:
    rows = (*LOST, row(40, SENDER, 0, flow="small"))
    assert segments(table(*rows)).height == segments(table(*LOST)).height
    assert segments(table(*rows), "small")["what"].to_list() == ["data"]
    with pytest.raises(ValueError, match=r"no data of none .* record\.packets = \[\"sender\"\]"):
        segments(table(*rows), "none")


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    values = {"duration": "4 s", "warmup": "0 s", "record.packets": ["sender"], "flows.0.cca": "reno"}
    return run(Scenario.named("single-cubic").with_values(values), out=tmp_path_factory.mktemp("runs"))


def test_it_has_as_many_packets_as_the_run_counted(lossy: Run) -> None:
    _, found = sequence(plots.presented(lossy))
    [counted] = lossy.flows["retransmitted_packets"].to_list()
    assert counted > 0
    assert found.filter(pl.col("what") == "sent again").height == counted
    acked = found.filter(pl.col("what") == "ACK")["to_byte"]
    sent = found.filter(pl.col("what") == "data")["to_byte"]
    assert acked.is_sorted()
    assert 0 < acked.to_numpy().max() <= sent.to_numpy().max()


def test_the_legend_says_retransmitted(lossy: Run) -> None:
    figure, _ = sequence(plots.presented(lossy))
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    assert words[:2] == ["data", "retransmitted"]
    assert words[-1] == "enlarged"


def test_the_part_is_around_the_first_retransmission_or_the_time(lossy: Run) -> None:
    figure, found = sequence(plots.presented(lossy))
    first_s = float(found.filter(pl.col("what") == "sent again")["time_s"][0])
    trip_s = round_trip_s(found)
    assert 0.04 <= trip_s <= 0.1  # the path has 40 ms, and its buffer as much
    wanted = (first_s - _TRIPS_BEFORE * trip_s, first_s + _TRIPS_AFTER * trip_s)
    assert figure.axes[1].get_xlim() == pytest.approx(wanted)
    figure, _ = sequence(plots.presented(lossy), 3.0)
    assert figure.axes[1].get_xlim() == pytest.approx((3 - _TRIPS_BEFORE * trip_s, 3 + _TRIPS_AFTER * trip_s))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--at", "9 s"), "no data were sent around 9 s"),
        (("--flow", "cubic-2"), 'unknown flow "cubic-2"'),
        (("--flow", "reno-1", "--flow", "reno-1"), "sequence draws one flow"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(words: tuple[str, ...], told: str, lossy: Run) -> None:
    found = CliRunner().invoke(app, ["plot", str(lossy.folder), "--kind", "sequence", *words])
    assert found.exit_code == 2
    assert told in " ".join(found.output.split())


def test_a_long_connection_is_no_long_file(lossy: Run, tmp_path: Path) -> None:
    command = ["plot", str(lossy.folder), "--kind", "sequence", "--out", str(tmp_path / "s.svg")]
    assert CliRunner().invoke(app, command).exit_code == 0
    packets = len((tmp_path / "s.csv").read_text(encoding="utf-8").splitlines())
    assert packets > 10_000
    assert (tmp_path / "s.svg").stat().st_size < 20 * packets


def test_a_sequence_names_its_flow_and_is_in_megabytes_if_long() -> None:
    short, _ = sequence({"packets": table(*LOST)})
    assert short.axes[0].get_title() == "f"
    assert short.axes[0].get_ylabel() == "sequence number (kB)"
    far = (row(20, SENDER, 4_000_000), row(45, RECEIVER, 0, 4_001_000))
    long, _ = sequence({"packets": table(*LOST, *far)})
    assert long.axes[0].get_ylabel() == "sequence number (MB)"
    assert long.axes[0].get_ylim()[1] < 10


def test_a_sequence_says_that_it_has_most_data_of_several_connections() -> None:
    packets = table(*LOST, row(40, SENDER, 0, flow="small"))
    assert sequence({"packets": packets})[0].axes[0].get_title() == "f, most data of 2 connections"
    assert sequence({"packets": packets}, flow="f")[0].axes[0].get_title() == "f"
