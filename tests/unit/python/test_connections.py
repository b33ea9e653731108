"""Captured packets and internal variables of flows with several connections."""

import polars as pl
import pytest

from fullpipe import Run, Scenario, run
from fullpipe.analysis.export import pcapng
from tests.export.reader import packets

FLOWS = {"web": {"kind": "web", "objects": [2, 5], "think": "100 ms"}, "voice": {"kind": "voip"}}


@pytest.fixture(scope="module")
def browsed() -> Run:
    """A reader of pages, and a call beside."""
    bottleneck = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"packets": 50}}
    flows = [{"name": name, "workload": workload} for name, workload in FLOWS.items()]
    flows[0]["cca"] = "cubic"
    return run(
        Scenario(
            name="browsed",
            duration="3 s",
            topology={"kind": "dumbbell", "bottleneck": bottleneck},
            flows=flows,
            record={"interval": "50 ms", "variables": True, "packets": ["sender", "receiver"]},
        )
    )


def test_every_connection_of_a_workload_is_captured_under_its_number(browsed: Run) -> None:
    captured = browsed.packets.filter(pl.col("flow") == "web")["connection"]
    assert set(captured) == set(browsed.transfers["connection"])


def test_datagrams_have_no_connection(browsed: Run) -> None:
    assert browsed.packets.filter(pl.col("flow") == "voice")["connection"].null_count() > 0


def test_clients_open_and_servers_answer(browsed: Run) -> None:
    opened = browsed.packets.filter(pl.col("kind").is_in(["syn", "syn_ack"]))
    sources = opened.group_by("kind").agg(pl.col("source").unique()).sort("kind")
    assert sources.rows() == [("syn", ["receiver"]), ("syn_ack", ["sender"])]


def test_either_end_closes_every_connection_that_ends(browsed: Run) -> None:
    fins = browsed.packets.filter(pl.col("flags").str.contains("fin") & (pl.col("point") == pl.col("source")))
    ends = fins.group_by("connection").agg(pl.col("source").n_unique())
    whole = ends.filter(pl.col("connection") < ends["connection"].max())  # the last may be open at the end
    assert len(whole) > 5
    assert (whole["source"] == 2).all()


def test_the_variables_of_every_connection_have_its_number(browsed: Run) -> None:
    numbers = set(browsed.variables.drop_nulls("flow")["connection"])
    assert len(numbers) > 5
    assert numbers <= set(browsed.transfers["connection"])


def test_every_connection_has_a_port_of_its_own_in_a_capture(browsed: Run) -> None:
    of_tcp = [data for _, _, _, data in packets(pcapng(browsed)) if data[23] == 6]
    ports = {int.from_bytes(data[34:36]) for data in of_tcp} | {
        int.from_bytes(data[36:38]) for data in of_tcp
    }
    assert ports == {5_201} | {49_151 + number for number in set(browsed.transfers["connection"])}


def segments(run: Run) -> pl.DataFrame:
    """Segments of the pages in the order of the capture at their sender."""
    flow = run.packets.filter((pl.col("flow") == "web") & (pl.col("point") == "sender"))
    sequence_taken = pl.col("len") + pl.col("flags").str.contains("fin").cast(pl.Int64)
    return flow.with_columns((pl.col("seq") + sequence_taken).alias("end"))


def test_a_segment_without_payload_has_the_number_that_comes_next(browsed: Run) -> None:
    of_server = segments(browsed).filter((pl.col("source") == "sender") & (pl.col("kind") != "syn_ack"))
    sent = of_server.with_columns(pl.col("end").cum_max().over("connection").alias("next"))
    bare = sent.filter(pl.col("kind") == "ack")
    assert len(bare) > 5
    assert bare["seq"].to_list() == bare["next"].to_list()


def test_a_fin_counts_as_one_and_is_acknowledged(browsed: Run) -> None:
    rows = segments(browsed)
    fins = (
        rows.filter(pl.col("flags").str.contains("fin"))
        .group_by("connection", "source")
        .agg(pl.col("end").max())
    )
    acknowledged = rows.group_by("connection", "source").agg(pl.col("ack").max())
    other = pl.col("source").replace({"sender": "receiver", "receiver": "sender"})
    both = fins.join(acknowledged.with_columns(other), on=["connection", "source"])
    closed = both.filter(pl.col("connection") < both["connection"].max())
    assert len(closed) > 10
    assert closed["end"].to_list() == closed["ack"].to_list()
