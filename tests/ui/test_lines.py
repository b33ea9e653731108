"""The lines of figures: one per flow, and one per algorithm of many flows."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from fullpipe import Scenario
from fullpipe.cli.ui.understood import MOST_LINES, Drawn, lines_of, understood
from tests.ui.conftest import event_named, what_if


def drawn(flows: list[dict[str, Any]]) -> dict[str, Any]:
    """Data of the page about flows over one link."""
    return understood(Scenario(**what_if(flows=flows)), 1)


def test_up_to_twelve_flows_have_a_line_each() -> None:
    told = drawn([{"cca": "cubic", "count": MOST_LINES}])
    assert [line["label"] for line in told["lines"]] == [f"cubic-{n}" for n in range(1, MOST_LINES + 1)]
    assert [flow["line"] for flow in told["flows"]] == list(range(MOST_LINES))


def test_more_flows_share_the_line_of_their_algorithm() -> None:
    told = drawn([{"cca": "cubic", "count": 12}, {"cca": "bbr3", "count": 12}])
    assert [(line["label"], line["flows"]) for line in told["lines"]] == [("cubic ×12", 12), ("bbr3 ×12", 12)]
    assert len(told["flows"]) == 24
    assert told["flows"][23] == {"name": "bbr3-12", "label": "bbr3-12", "line": 1}
    alone = drawn([{"cca": "cubic"}, {"cca": "bbr3"}])["lines"]
    looks = [[(line["colour"], line["dash"]) for line in lines] for lines in (told["lines"], alone)]
    assert looks[0] == looks[1]


def test_directions_applications_and_segment_sizes_have_lines_of_their_own() -> None:
    told = drawn(
        [
            {"cca": "cubic", "count": 6},
            {"cca": "cubic", "count": 4, "direction": "reverse"},
            {"cca": "cubic", "count": 2, "workload": "web"},
            {"cca": "reno", "count": 2, "tcp": {"mss": "8948 B"}},
            {"cca": "reno", "count": 3},
            {"name": "call", "workload": "voip"},
        ]
    )
    assert [line["label"] for line in told["lines"]] == [
        "cubic, downloads ×6",
        "cubic, uploads ×4",
        "cubic web ×2",
        "reno, 8948 B ×2",
        "reno, 1448 B ×3",
        "call",
    ]


def test_flows_of_one_name_are_kept_apart() -> None:
    lines, numbers = lines_of([Drawn("x", "cubic", "cubic", False, 1448)] * 2)
    assert len(lines) == 2
    assert numbers == [0, 1]


@pytest.mark.parametrize("count", [2, 24])
def test_every_flow_is_sampled_and_listed(client: TestClient, count: int) -> None:
    flows = [{"cca": "cubic", "count": count, "start_jitter": "100 ms"}]
    text = client.post("/api/live", json={"scenario": what_if(duration="2 s", flows=flows)}).text
    begin, end = (event_named(text, name) for name in ("begin", "end"))
    assert [flow["name"] for flow in begin["flows"]] == [flow["flow"] for flow in end["flows"]]
    assert len(begin["flows"]) == count
