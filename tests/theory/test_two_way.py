"""Data of both directions on one path, after Zhang, Shenker and Clark, "Observations on the dynamics of a
congestion control algorithm: the effects of two-way traffic", SIGCOMM 1991."""

from functools import cache

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario

DOWN_BPS, UP_BPS = 20e6, 1e6
ACK_NS = 66 * 8e9 / UP_BPS
"""How long the uplink takes to send an ACK."""


def link(rate_bps: float) -> dict[str, object]:
    queue = {"kind": "drop_tail", "packets": 100}
    return {"rate": f"{rate_bps / 1e6:g} Mbit/s", "delay": "20 ms", "queue": queue}


@cache
def run(*flows: str) -> Run:
    """Downloads and uploads over a fast downlink and a slow uplink."""
    ways = {"download": {}, "upload": {"direction": "reverse"}}
    return fullpipe.run(
        Scenario(
            name="two-way",
            duration="30 s",
            warmup="10 s",
            topology={"kind": "dumbbell", "bottleneck": link(DOWN_BPS), "reverse": link(UP_BPS)},
            flows=[{"cca": "cubic", "name": name, **ways[name]} for name in flows],
            record={"interval": "off", "packets": ["sender"]},
        ),
        seed=1,
    )


def number(run: Run, flow: str, column: str) -> float:
    return float(run.flows.filter(pl.col("flow") == flow)[column].item())


def ack_gaps_ns(run: Run) -> pl.Series:
    mine = (pl.col("flow") == "download") & (pl.col("kind") == "ack") & (pl.col("time_ns") > 10e9)
    return run.packets.filter(mine)["time_ns"].diff().drop_nulls()


def test_an_upload_that_fills_the_uplink_slows_the_download() -> None:
    alone, beside = run("download"), run("download", "upload")
    assert number(beside, "download", "goodput_bps") < 0.8 * number(alone, "download", "goodput_bps")


def test_the_acks_of_a_download_wait_behind_the_data_of_an_upload() -> None:
    alone, beside = run("download"), run("download", "upload")
    assert number(beside, "download", "rtt_mean_s") > 1.5 * number(alone, "download", "rtt_mean_s")


def test_acks_of_a_download_alone_keep_the_distance_of_the_data() -> None:
    assert ack_gaps_ns(run("download")).quantile(0.05) >= 1514 * 8e9 / DOWN_BPS - 1


def test_acks_that_waited_behind_an_upload_come_compressed() -> None:
    assert ack_gaps_ns(run("download", "upload")).median() == pytest.approx(ACK_NS)


@pytest.mark.parametrize(("flow", "link"), [("download", "bottleneck"), ("upload", "bottleneck-reverse")])
def test_a_lone_flow_fills_its_direction_whichever_it_is(flow: str, link: str) -> None:
    links = run(flow).links_summary
    assert links.filter(pl.col("link") == link)["utilisation"].item() > 0.99
