"""The drawing of a network: where nodes stand, which edges and routes there are."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.cli.ui.understood import understood
from fullpipe.scenario import scenario_names
from tests.ui.browsing import Open


def path(name: str) -> dict[str, Any]:
    """The drawing of a scenario that comes with fullpipe."""
    scenario = Scenario.named(name)
    first = scenario.expand()[0] if scenario.sweep else scenario
    found: dict[str, Any] = understood(first, 1)["path"]
    return found


def test_nodes_of_a_chain_stand_in_a_row_and_routes_lead_along_it() -> None:
    told = path("parking-lot")
    assert [(node["name"], node["x"], node["y"]) for node in told["nodes"]] == [
        ("a", 0, 0.0),
        ("b", 1, 0.0),
        ("c", 2, 0.0),
        ("d", 3, 0.0),
    ]
    ways = [[0, 1, 2, 3], [0, 1], [1, 2], [2, 3]]
    assert told["routes"] == [{"line": line, "nodes": nodes} for line, nodes in enumerate(ways)]
    assert told["rtts_s"] == [pytest.approx(0.02), pytest.approx(0.06)]


def test_a_cell_has_an_edge_to_every_station() -> None:
    told = path("shared-uplink")
    (cell,) = told["cells"]
    assert cell["name"] == "cable"
    assert cell["edges"] == [("headend", f"home-{n}") for n in (1, 2, 3)]
    column = {node["name"]: node["x"] for node in told["nodes"]}
    assert column["home-1"] < column["headend"] < column["server"]


@pytest.mark.parametrize("name", scenario_names())
def test_no_two_nodes_stand_in_one_place_and_routes_are_of_nodes(name: str) -> None:
    told = path(name)
    if told["shape"] == "dumbbell":
        return
    assert told["is_whole"]
    places = [(node["x"], node["y"]) for node in told["nodes"]]
    assert len(set(places)) == len(places)
    assert all(len(way["nodes"]) >= 2 and max(way["nodes"]) < len(places) for way in told["routes"])
    assert min(x for x, _ in places) == 0


def test_a_network_is_drawn_with_its_cell(show: Open) -> None:
    tab = show("#/editor", wait=".cm-content")
    tab.get_by_label("Begin with").select_option("wifi-home-ax")
    tab.wait_for_selector(".network .air")
    drawing = tab.get_by_role("img", name="6 nodes, 3 links, 1 cells")
    assert drawing.locator(".route").count() == 3
    assert "home (wifi)" in drawing.text_content()
    assert "access-point" in drawing.text_content()
