"""Recipes of CONTRIBUTING.md, performed on copies: they touch the files that it prints, compile, and work."""

from __future__ import annotations

import fcntl
import json
import shutil
from pathlib import Path

import pytest

from fullpipe import Scenario
from tests.docs.recipes import ROOT, TARGET, cargo, copy, perform, printed, python, replace, steps

ALGORITHM = ("add-an-algorithm.md", "In Rust")
QUEUE = ("extend.md", "A queue")
IMPAIRMENT = ("extend.md", "An impairment")
APPLICATION = ("extend.md", "An application")
OPTION = ("extend.md", "A transport option")
RECIPES = (ALGORITHM, QUEUE, IMPAIRMENT, APPLICATION, OPTION)
"""Pages and headings whose steps are performed here."""
WITH_TESTS_OF_RECIPES = {
    "congestion": ("allocation", "conformance", "rounds"),
    "network": ("common", "elements", "impairments"),
    "simulation": (),
    "tcp": (),
}
"""Modules of tests from outside by their crate. The others take long to compile, and none is of a recipe."""


def test_an_algorithm(tmp_path: Path) -> None:
    root = copy(tmp_path / "copy", ["crates/congestion"])
    assert perform(root, steps(*ALGORITHM)) == printed("Algorithm")


def test_a_queue(tmp_path: Path) -> None:
    root = copy(tmp_path / "copy", ["crates/network"])
    assert perform(root, steps(*QUEUE)) == printed("Queue")


def test_an_impairment(tmp_path: Path) -> None:
    root = copy(tmp_path / "copy", ["crates/network"])
    assert perform(root, steps(*IMPAIRMENT)) == printed("Impairment")


def test_an_impairment_of_the_registry_is_a_key_of_links() -> None:
    """Without compiling it: the registry says what it would."""
    program = """
import json
from fullpipe import _native
def param(name):
    bounds = {"min": 1, "max": 3.6e12}
    kind = {"unit": "ns", "kind": "whole", "required": True, **bounds}
    return {"name": name, "doc": "A time.", "label": "", **kind}
made = {"name": "interruption", "title": "Nothing", "params": [param("every_ns"), param("lasts_ns")]}
found = _native.registry()
found["impairments"].append(made)
_native.registry = lambda: found
from fullpipe import Scenario
from fullpipe.engines.native.plan import plan
from fullpipe.scenario.schema import file_schema
written = {"topology.bottleneck.interruption": {"every": "15 s", "lasts": "100 ms"}}
scenario = Scenario.named("single-reno").with_values(written)
assert Scenario.from_toml(scenario.to_toml()) == scenario
print(json.dumps([plan(scenario)["links"][0]["impairments"], "Interruption" in file_schema()["definitions"]]))
"""
    params = {"every_ns": 15_000_000_000, "lasts_ns": 100_000_000}
    assert json.loads(python(ROOT, program)) == [[{"kind": "interruption", **params}], True]


def test_an_application(tmp_path: Path) -> None:
    """Without compiling it: the registry says what it would."""
    root = copy(tmp_path / "copy", ["crates/simulation", "python"])
    assert perform(root, steps(*APPLICATION)) == printed("Application")
    program = """
import json
from fullpipe import _native
def param(name, unit):
    bounds = {"min": 1, "max": 1e15}
    kind = {"unit": unit, "kind": "whole", "required": True, **bounds}
    return {"name": name, "doc": "A quantity.", "label": "", **kind}
params = [param("interval_ns", "ns"), param("size_bytes", "bytes")]
found = _native.registry()
found["applications"].append({"name": "messages", "title": "Messages", "params": params})
_native.registry = lambda: found
from fullpipe import Scenario
from fullpipe.engines.native.plan import plan
workload = {"kind": "messages", "interval": "1 s", "size": "500 B"}
scenario = Scenario.named("single-reno").with_values({"flows.0.workload": workload})
print(json.dumps(plan(scenario)["flows"][0]["workload"]))
"""
    expected = {"kind": "messages", "interval_ns": 1_000_000_000, "size_bytes": 500}
    assert json.loads(python(root, program)) == expected


def test_a_transport_option(tmp_path: Path) -> None:
    root = copy(tmp_path / "copy", ["crates/tcp"])
    assert perform(root, steps(*OPTION)) == printed("Transport option")


def test_a_transport_option_of_the_registry_is_a_key_of_tcp() -> None:
    """Without compiling it: the registry says what it would."""
    program = """
import json
from fullpipe import _native
found = _native.registry()
option = {"name": "sack_compression_most", "unit": "packets", "kind": "whole", "min": 1, "max": 255}
found["transport"][0]["params"].append({**option, "doc": "Most.", "label": "", "required": False})
_native.registry = lambda: found
from fullpipe import Scenario
from fullpipe.engines.native.plan import plan
from fullpipe.errors import ScenarioError
given = Scenario.named("single-reno")
made = given.with_values({"tcp.sack_compression_most": 10})
try:
    given.with_values({"tcp.sack_compression_most": 256})
except ScenarioError as error:
    refused = str(error)
same = Scenario.from_toml(made.to_toml()) == made
tcp = plan(made)["flows"][0]["tcp"]
print(json.dumps([tcp, refused, [given.digest, made.digest], same]))
"""
    tcp, refused, digests, same = json.loads(python(ROOT, program))
    assert tcp == {"sack_compression_most": 10}
    assert "tcp.sack_compression_most: must be at most 255, got 256" in refused
    assert digests[0] == Scenario.named("single-reno").digest != digests[1]
    assert same


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe[1])
def test_a_recipe_needs_no_other(recipe: tuple[str, str], request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--long"):
        pytest.skip("--long compiles it")
    TARGET.mkdir(exist_ok=True)
    with (TARGET / "recipe.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the copy is the same for all, so that little is compiled anew
        root = copy(TARGET / "recipe", ["crates"])
        for step in (step for step in steps(*recipe) if step.path.startswith("crates/")):
            step.perform(root)
        cargo(root, "check", "--workspace", "--all-targets")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_what_the_recipes_make_passes_its_tests_and_the_conformance_kits() -> None:
    """All in one copy, of which is compiled what changed since the last time."""
    root = copy(TARGET / "recipes.new", ["crates"])
    for step in (step for recipe in RECIPES for step in steps(*recipe)):
        if step.path.startswith("crates/"):
            step.perform(root)
    for crate, modules in WITH_TESTS_OF_RECIPES.items():
        lines = [f"mod {name};\n" for name in modules]
        (root / f"crates/{crate}/tests/main.rs").write_text("".join(lines), encoding="utf-8")
    replace(TARGET / "recipes", root)
    root = TARGET / "recipes"
    # The last has no tests: with it, crates of others have the features with which they are compiled already.
    names = ("congestion", "network", "tcp", "simulation", "python")
    packages = [part for name in names for part in ("-p", f"fullpipe-{name}")]
    of_algorithms = ("conformance::", "rounds::", "allocation::")
    others = ("queue::", "impairment", "elements::", "applications::")
    shown = cargo(root, "test", *packages, "--tests", "--", *of_algorithms, *others)
    for passed in (
        "conformance::nothing_that_happens_breaks_an_algorithm",
        "rounds::every_algorithm_goes_its_way",
        "allocation::no_algorithm_allocates_once_it_is_built",
        "queue::head_drop::tests::the_oldest_makes_room",
        "elements::a_link_with_any_queue_conforms",
        "elements::a_link_with_any_impairment_conforms",
    ):
        assert f"test {passed} ... ok" in shown
    assert "test impairments::interruption::" in shown
    assert "test applications::messages::" in shown
    assert (root / "crates/congestion/tests/snapshots/rounds__still.snap").exists()
