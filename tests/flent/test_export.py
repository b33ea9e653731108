"""Files that Flent opens: what is in them, and that it is what the run measured."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullpipe as library
from fullpipe import Run, Scenario
from fullpipe.analysis.export import flent
from fullpipe.engines.flent import read_run
from fullpipe.errors import ResultError
from fullpipe.scenario.flent.build import Choices, declared, path_of, scenario_of, with_streams

Cli = Callable[..., Any]
MANDATORY = {"NAME", "TITLE", "HOST", "LOCAL_HOST", "LENGTH", "STEP_SIZE"}
MOST_APART = 0.005


def made(name: str, *ccas: str, path: str = "ethernet-100m", seed: int = 1) -> Run:
    choices = Choices(ccas or ("cubic",), length_s=20)
    return library.run(scenario_of(declared(name), path_of(Scenario.named(path)), choices), seed=seed)


def tree_of(run: Run) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(gzip.decompress(flent(run, "a title")))
    return tree


def test_the_file_has_what_flent_needs_and_lists_of_one_length() -> None:
    tree = tree_of(made("rrul"))
    assert set(tree) == {"version", "metadata", "x_values", "results", "raw_values"}
    assert tree["version"] == 4
    assert set(tree["metadata"]) >= MANDATORY
    assert tree["metadata"]["T0"].endswith("Z")
    assert tree["metadata"]["TITLE"] == "a title"
    assert {len(values) for values in tree["results"].values()} == {len(tree["x_values"])}
    names = {name for name in tree["results"] if "::tcp" not in name}
    assert names == set(tree["raw_values"])
    assert names >= {*declared("rrul").series, "TCP totals", "TCP upload sum", "Ping (ms) avg"}


def test_raw_values_are_what_the_run_measured() -> None:
    run = made("tcp_1up", "bbr3")
    tree = tree_of(run)
    (row,) = run.flows.filter(pl.col("flow") == "TCP upload").to_dicts()
    points = tree["raw_values"]["TCP upload"]
    rates = [point for point in points if "val" in point]
    delivered = sum(point["val"] * point["dur"] for point in rates) * 1e6 / 8
    assert delivered == pytest.approx(row["delivered_bytes"], rel=MOST_APART)
    assert all({"tcp_cwnd", "tcp_rtt"} <= set(point) for point in points if "val" not in point)
    assert tree["metadata"]["SERIES_META"]["TCP upload"]["CONG_CONTROL"] == "bbr3"
    pings = [point["val"] for point in tree["raw_values"]["Ping (ms) ICMP"]]
    assert pings == pytest.approx((run.probes["rtt_s"].drop_nulls() * 1e3).to_list())


@pytest.mark.parametrize("name", ["tcp_4up", "tcp_4down", "rrul_be"])
def test_sums_and_means_are_those_of_the_run(name: str) -> None:
    run = made(name)
    tree = tree_of(run)
    for way in ("upload", "download"):
        if f"TCP {way} sum" not in tree["results"]:
            continue
        own = run.flows.filter(pl.col("flow").str.contains(way))["goodput_bps"] / 1e6
        sums = [value for value in tree["results"][f"TCP {way} sum"] if value is not None]
        means = [value for value in tree["results"][f"TCP {way} avg"] if value is not None]
        assert np.mean(sums) == pytest.approx(own.sum(), rel=MOST_APART)
        assert np.mean(means) == pytest.approx(own.mean(), rel=MOST_APART)


def test_fairness_is_that_of_the_samples_and_unknown_where_nothing_came() -> None:
    path = Scenario.named("ethernet-100m").with_values({"topology.bottleneck.rate": "2 Mbit/s"})
    test = with_streams(declared("tcp_nup"), 40)
    run = library.run(scenario_of(test, path_of(path), Choices(("reno",), length_s=20)))
    tree = tree_of(run)
    found = zip(tree["x_values"], tree["results"]["TCP upload fairness"], strict=True)
    known = {x: value for x, value in found if value is not None}
    rates = pl.col("goodput_bps")
    jain = (rates.sum() ** 2 / (pl.len() * (rates**2).sum())).alias("jain")
    own = run.series.filter(pl.col("flow").str.starts_with("TCP")).group_by("time_s").agg(jain, rates.sum())
    inside = own.filter(pl.col("time_s").is_between(5.3, 24.9))
    for time_s, index, total in inside.iter_rows():
        x = round(time_s, 6)
        assert (x in known) == (total > 0)
        assert not total or known[x] == pytest.approx(index, rel=1e-9)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    run = made("rrul", "bbr3", path="dsl")
    path = tmp_path / "a.flent.gz"
    path.write_bytes(flent(run))
    again = read_run(path)
    there, back = ({row["flow"]: row for row in one.flows.to_dicts()} for one in (run, again))
    assert set(there) == set(back)
    for name, row in there.items():
        other = back[name]
        assert row["protocol"] == other["protocol"]
        assert row["cca"] == other["cca"]
        if row["protocol"] == "tcp":
            assert other["goodput_bps"] == pytest.approx(row["goodput_bps"], rel=1e-6)
            assert other["retransmitted_packets"] == row["retransmitted_packets"]
        else:
            rtts = [one.probes.filter(pl.col("flow") == name)["rtt_s"].drop_nulls() for one in (run, again)]
            assert rtts[1].to_list() == pytest.approx(rtts[0].to_list())
    for one, other in zip(run.scenario.flows, again.scenario.flows, strict=True):
        assert (one.name, one.dscp, one.is_upload) == (other.name, other.dscp, other.is_upload)
    lost = run.probes.filter(pl.col("flow").str.contains("UDP"))["rtt_s"].null_count()
    assert again.probes.filter(pl.col("flow").str.contains("UDP"))["rtt_s"].null_count() == lost


def test_a_call_has_the_delay_jitter_and_loss_of_its_packets(tmp_path: Path) -> None:
    run = made("voip-1up", path="dsl")
    tree = tree_of(run)
    packets = run.probes.filter(pl.col("flow") == "VoIP")
    owd_ms = packets["owd_s"] * 1e3
    values = {
        name: [point["val"] for point in tree["raw_values"][f"VoIP::{name}"]]
        for name in ("delay", "jitter", "loss", "bitrate")
    }
    assert values["delay"] == pytest.approx(owd_ms.drop_nulls().to_list())
    assert values["jitter"] == pytest.approx(owd_ms.diff().abs().drop_nulls().to_list())
    assert sum(values["loss"]) == packets["owd_s"].null_count() > 10
    assert np.median(values["bitrate"]) == pytest.approx(172 * 8 / 0.02 / 1e3, rel=0.05)
    path = tmp_path / "a.flent.gz"
    path.write_bytes(flent(run))
    there, again = (one.flows.filter(flow="VoIP").to_dicts()[0] for one in (run, read_run(path)))
    assert again["owd_mean_s"] == pytest.approx(there["owd_mean_s"], rel=1e-3)
    assert again["jitter_s"] == pytest.approx(there["jitter_s"], rel=0.05)
    assert again["lost_packets"] == pytest.approx(there["lost_packets"], abs=3)


@pytest.mark.parametrize(
    ("name", "length_s", "streams"),
    [
        ("tcp_2up_delay", 20, 2),
        ("tcp_4up_squarewave", 20, 4),
        ("tcp_1up_noping", 20, 1),
    ],
)
def test_tests_of_other_shape_say_their_length_and_keep_their_streams(
    tmp_path: Path, name: str, length_s: int, streams: int
) -> None:
    run = made(name)
    tree = tree_of(run)
    assert (tree["metadata"]["NAME"], tree["metadata"]["LENGTH"]) == (name, length_s)
    path = tmp_path / "a.flent.gz"
    path.write_bytes(flent(run))
    again = read_run(path).flows.filter(pl.col("goodput_bps") > 0)
    there = run.flows.filter(pl.col("goodput_bps") > 0, pl.col("protocol") != "icmp")
    assert again["flow"].to_list() == there["flow"].to_list()
    assert len(again) == streams
    assert again["goodput_bps"].to_list() == pytest.approx(there["goodput_bps"].to_list(), rel=MOST_APART)


def test_a_flood_fills_the_wire(tmp_path: Path) -> None:
    path = tmp_path / "a.flent.gz"
    path.write_bytes(flent(made("udp_flood")))
    again = read_run(path).flows.filter(flow="UDP upload")
    frame = 1470 + 28 + 38  # headers of UDP and IPv4, and what Ethernet adds on the wire
    assert again["goodput_bps"][0] == pytest.approx(100e6 * 1470 / frame, rel=1e-3)


def test_sums_of_torrents_leave_out_what_is_none() -> None:
    tree = tree_of(made("rrul_torrent"))
    assert {name for name in tree["results"] if name.endswith(" sum")} == {
        "TCP upload Torrent sum",
        "TCP download Torrent sum",
    }
    assert "TCP totals" not in tree["results"]


def test_any_run_becomes_streams_one_way(tmp_path: Path) -> None:
    scenario = Scenario.named("single-cubic").with_values({"duration": "5 s", "record.interval": "200 ms"})
    tree = tree_of(library.run(scenario))
    assert tree["metadata"]["NAME"] == "tcp_ndown"
    assert tree["metadata"]["TEST_PARAMETERS"] == {"download_streams": 1}
    assert "scenario single-cubic" in tree["metadata"]["NOTE"]
    assert "TCP download::1" in tree["raw_values"]


def test_the_same_run_gives_the_same_bytes() -> None:
    run = made("tcp_2up")
    assert flent(run) == flent(run)


def test_without_samples_there_is_nothing_to_write() -> None:
    scenario = Scenario.named("single-cubic").with_values({"duration": "1 s", "record.interval": "off"})
    with pytest.raises(ResultError, match="no samples"):
        flent(library.run(scenario))


def test_the_ending_of_the_file_says_the_format(fullpipe: Cli) -> None:
    assert fullpipe("flent", "ping", "--length", "2 s").exit_code == 0
    run = next(Path("runs").glob("*/native-1"))
    for name, more in (("a.flent.gz", ()), ("b", ("--format", "flent"))):
        done = fullpipe("export", run, "-o", name, *more)
        assert done.exit_code == 0, done.output
        assert json.loads(gzip.decompress(Path(name).read_bytes()))["metadata"]["NAME"] == "ping"
