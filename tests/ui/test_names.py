"""What two scenarios are called beside each other."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.cli.ui.compare import files_of, names_of
from tests.ui.conftest import what_if

PATH = {"kind": "dumbbell", "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"kind": "codel"}}}


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({"topology": PATH}, ("drop_tail 1 bdp", "codel")),
        ({"flows": [{"cca": "cubic"}, {"cca": "bbr1"}]}, ("bbr3", "bbr1")),
        ({"tcp": {"ecn": True}}, ("default tcp", "tcp ecn true")),
        ({"duration": "6 s", "name": "other"}, ("5 s", "6 s")),
        ({"flows": [{"cca": "cubic"}]}, None),
        ({"name": "other"}, ("what-if", "other")),
        ({}, ("A", "B")),
    ],
)
def test_scenarios_are_called_by_what_differs(more: dict[str, Any], names: tuple[str, str] | None) -> None:
    base: dict[str, Any] = what_if(flows=[{"cca": "cubic"}, {"cca": "bbr3"}])
    found = names_of(Scenario(**base), Scenario(**{**base, **more}))
    assert found == names if names else found[0] != found[1]


def test_files_are_called_so_that_they_can_be_written() -> None:
    assert files_of(["drop_tail 1 bdp", "fq_codel"]) == ["drop_tail-1-bdp.toml", "fq_codel.toml"]
    assert files_of(["../../etc", "x/y"]) == ["etc.toml", "x-y.toml"]
    for names in (["A", "a"], ["", "x"], ["..", "x"], ["x" * 100, "x" * 101]):
        assert files_of(names) == ["a.toml", "b.toml"]
