"""Recipes of CONTRIBUTING.md, performed on copies: they compile, work, and touch the files that it prints."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.docs.recipes import cargo_test, copy, perform, printed, python, steps

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
]
RECIPES = (
    ("add-an-algorithm.md", "In Rust"),
    ("extend.md", "A queue"),
    ("extend.md", "An impairment"),
    ("extend.md", "An application"),
)
"""Pages and headings whose steps are performed here."""
NETWORK = ("crates/params", "crates/units", "crates/network")


def test_an_algorithm() -> None:
    root = copy("algorithm", ("crates/params", "crates/units", "crates/congestion"))
    assert perform(root, steps(*RECIPES[0])) == printed("Algorithm")
    tests = ("--test", "all", "--", "conformance::", "rounds::", "allocation::")
    cargo_test(root, "-p", "fullpipe-congestion", *tests)
    assert (root / "crates/congestion/tests/snapshots/rounds__still.snap").exists()


def test_a_queue() -> None:
    root = copy("queue", NETWORK)
    assert perform(root, steps(*RECIPES[1])) == printed("Queue")
    shown = cargo_test(root, "-p", "fullpipe-network", "--lib", "--test", "all", "queue")
    assert "test queue::head_drop::tests::the_oldest_makes_room ... ok" in shown
    assert "test elements::a_link_with_any_queue_conforms ... ok" in shown


def test_an_impairment() -> None:
    root = copy("impairment", (*NETWORK, "python"))
    assert perform(root, steps(*RECIPES[2])) == printed("Impairment")
    shown = cargo_test(root, "-p", "fullpipe-network", "--lib", "--test", "all", "impairment")
    assert "test impairments::interruption::" in shown
    assert "test elements::a_link_with_any_impairment_conforms ... ok" in shown
    program = """
import json
from fullpipe.scenario.model.link.impairments import Impairments, given
written = {"interruption": {"every": "15 s", "lasts": "100 ms"}}
print(json.dumps([[one.name, one.params] for one in given(Impairments.model_validate(written))]))
"""
    params = {"every_ns": 15_000_000_000, "lasts_ns": 100_000_000}
    assert json.loads(python(root, program)) == [["interruption", params]]


def test_an_application() -> None:
    crates = ("crates/congestion", "crates/tcp", "crates/simulation", *NETWORK)
    root = copy("application", (*crates, "python"))
    assert perform(root, steps(*RECIPES[3])) == printed("Application")
    shown = cargo_test(root, "-p", "fullpipe-simulation", "--lib", "applications")
    assert "test applications::messages::" in shown
    program = """
import json
from fullpipe import Scenario
from fullpipe.engines.native.plan import plan
workload = {"kind": "messages", "interval": "1 s", "size": "500 B"}
scenario = Scenario.named("single-reno").with_values({"flows.0.workload": workload})
print(json.dumps(plan(scenario)["flows"][0]["workload"]))
"""
    expected = {"kind": "messages", "interval_ns": 1_000_000_000, "bytes": 500}
    assert json.loads(python(root, program)) == expected
