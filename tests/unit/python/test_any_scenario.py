"""Whatever a scenario says: it is read as it was written, it runs, and no packet appears or vanishes."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import fullpipe
from fullpipe import Scenario, ScenarioError
from tests.strategies import ANY, SMALL, scenarios

REFUSED = re.compile("would cross a link twice|no flow crosses this link|nothing limits")
"""Reasons for which a drawn network may be refused."""
STILL_S = 4.0
"""Longer than a packet is on its way, and than the slowest drawn link takes to send one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where drawn traces and losses are written."""
    return tmp_path_factory.mktemp("drawn")


def scenario_of(tree: dict[str, Any]) -> Scenario:
    """The scenario of a tree; one that cannot be is drawn again."""
    try:
        return Scenario(**tree)
    except ScenarioError as error:
        if all(REFUSED.search(line) for line in error.problems):
            reject()
        raise


@settings(max_examples=40)
@given(data=st.data())
def test_toml_out_and_in_is_the_identity(data: st.DataObject, folder: Path) -> None:
    scenario = scenario_of(data.draw(scenarios(ANY, folder)))
    assert Scenario.from_toml(scenario.to_toml()) == scenario


@settings(max_examples=40)
@given(data=st.data())
def test_toml_out_and_in_keeps_the_digest(data: st.DataObject, folder: Path) -> None:
    scenario = scenario_of(data.draw(scenarios(ANY, folder)))
    assert Scenario.from_toml(scenario.to_toml()).digest == scenario.digest


@settings(max_examples=40)
@given(data=st.data())
def test_no_flow_delivers_more_than_it_sent(data: st.DataObject, folder: Path) -> None:
    tree = data.draw(scenarios(SMALL, folder))
    tree.pop("warmup", None)  # what was sent in it may be delivered after it
    scenario = scenario_of(tree)
    rows = fullpipe.run(scenario).flows.filter(pl.col("protocol") == "tcp")
    largest = max([scenario.tcp.mss_bytes, *(scenario.tcp_of(flow).mss_bytes for flow in scenario.flows)])
    sent_once = rows["sent_packets"] - rows["retransmitted_packets"]
    assert (rows["delivered_bytes"] <= sent_once * largest).all()


@settings(max_examples=100)
@given(data=st.data())
def test_every_packet_arrives_or_is_dropped_once_all_is_still(data: st.DataObject, folder: Path) -> None:
    tree = data.draw(scenarios(SMALL, folder))
    flows = [{"stop": "1500 ms", **flow} for flow in tree["flows"]]
    record = {"interval": "100 ms", "packets": ["sender", "receiver"]}
    scenario = scenario_of({**tree, "duration": "10 s", "warmup": "0 s", "flows": flows, "record": record})
    run = fullpipe.run(scenario)
    begins = pl.col("source") == pl.col("point")
    sent, arrived = run.packets.filter(begins), run.packets.filter(~begins)
    still_s = scenario.duration_s - STILL_S
    late = run.links.filter(pl.col("time_s") > still_s)
    if late["backlog_packets"].sum() or (sent["time_ns"] > still_s * 1e9).any():
        reject()
    missing = len(sent) - len(arrived) - int(run.links_summary["dropped_packets"].sum())
    assert missing <= 0 if "duplicate = " in scenario.to_toml() else missing == 0
