"""Engines of other packages, and what stands for a run of an engine."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fullpipe
from fullpipe import EngineError, Scenario, engines, sweeps
from fullpipe.engines import ENGINES, digest_of
from fullpipe.runs import Store
from fullpipe.sweeps import Job, Update

_MODULE = """
from fullpipe.engines.native import NativeEngine

class Testbed(NativeEngine):
    "A testbed."
    name = "testbed"

_NONE = None
"""


def install(folder: Path, **entries: str) -> None:
    """What pip leaves of a package with these engines."""
    (folder / "their_testbed.py").write_text(_MODULE)
    info = folder / "their_testbed-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-testbed\nVersion: 1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (info / "entry_points.txt").write_text(f"[{engines.GROUP}]\n{lines}")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which packages are imported."""
    monkeypatch.syspath_prepend(tmp_path)
    engines._entry_points.cache_clear()
    yield tmp_path
    engines._entry_points.cache_clear()
    sys.modules.pop("their_testbed", None)


@pytest.fixture
def small() -> Scenario:
    """One flow, for a tenth of a second."""
    return Scenario.named("single-reno").with_values({"duration": "0.1 s"})


def test_another_package_brings_an_engine(site: Path, small: Scenario) -> None:
    install(site, testbed="their_testbed:Testbed")
    assert engines.names() == [*ENGINES, "testbed"]
    assert engines.engine("testbed").name == "testbed"
    assert fullpipe.run(small, engine="testbed").meta.engine.name == "testbed"


def test_no_package_takes_a_name_of_ours(site: Path) -> None:
    install(site, native="their_testbed:Testbed")
    assert engines.names() == list(ENGINES)
    assert type(engines.engine("native")).__module__ == "fullpipe.engines.native"


@pytest.mark.parametrize("value", ["no_such_module:Testbed", "their_testbed:Nothing", "their_testbed:_NONE"])
def test_an_engine_that_cannot_be_loaded_is_named_with_its_package(site: Path, value: str) -> None:
    install(site, broken=value)
    with pytest.raises(EngineError, match=r"broken of the package their-testbed \(.*\) cannot be loaded"):
        engines.engine("broken")


def test_an_engine_whose_name_is_a_path_is_refused(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.engines.native.NativeEngine.name", "../native")
    with pytest.raises(EngineError, match=r'engine "\.\./native": a name has letters'):
        fullpipe.run(small, out=tmp_path)


def test_options_of_another_engine_do_not_move_the_digest(small: Scenario) -> None:
    optioned = small.with_values({"ns3.sack": False})
    for name in ("native", "linux"):
        assert digest_of(engines.engine(name), optioned) == small.digest
    for name in ("ns3", "ns3-3.42"):
        assert digest_of(engines.engine(name), small) == small.digest
        assert digest_of(engines.engine(name), optioned) == optioned.digest != small.digest


def test_a_run_is_found_whatever_is_asked_of_another_engine(small: Scenario, tmp_path: Path) -> None:
    optioned, store = small.with_values({"ns3.sack": False}), Store(tmp_path)
    states: list[str] = []

    def told(update: Update) -> None:
        states.append(update.state)

    (made,) = sweeps.run([Job(small, 1)], store=store)
    (found,) = sweeps.run([Job(optioned, 1)], store=store, progress=told)
    assert states[-1] == "stored"
    assert found.folder == made.folder == tmp_path / small.digest / "native-1"
    assert found.scenario == optioned


def test_a_run_says_what_it_is_stored_under(small: Scenario) -> None:
    optioned = small.with_values({"ns3.sack": False})
    made = fullpipe.run(optioned)
    assert made.meta.digest == small.digest
    assert made.scenario.digest == optioned.digest
