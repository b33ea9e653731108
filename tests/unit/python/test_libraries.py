"""Algorithms in shared objects: the simulator's own through its C interface, and the example in C."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, ScenarioError, _native
from fullpipe.algorithms import own
from fullpipe.errors import ControllerError, EngineError

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "crates/capi/examples/quic_newreno.c"
BASE = Scenario.named("single-reno").with_values({"duration": "10 s"})


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C example, built as its first lines say."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler")
    return built(EXAMPLE, tmp_path_factory.mktemp("c") / "libquic.so", compiler)


def built(source: Path, library: Path, compiler: str) -> Path:
    (library.parent / "fullpipe_congestion.h").write_text(_native.CONGESTION_HEADER)
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, f"-I{library.parent}", "-o", library, source], check=True)
    return library


def run(kind: object) -> Run:
    return fullpipe.run(BASE.with_values({"flows.0.cca": kind}), allow_python=True)


def numbers(run: Run) -> dict[str, pl.DataFrame]:
    return {name: table.drop(pl.col(pl.String)) for name, table in run.tables.items()}


@pytest.mark.parametrize("name", ["reno", "cubic", "bbr1", "bbr3", "prague"])
def test_what_comes_through_the_interface_is_the_same_to_the_bit(name: str) -> None:
    through, native = numbers(run(f"library:{_native.__file__}:{name}")), numbers(run(name))
    assert [name for name, table in native.items() if not table.equals(through[name])] == []


def test_the_example_in_c_uses_the_link_as_newreno_does(example: Path) -> None:
    ours, theirs = (run(kind).flows for kind in (f"library:{example}:newreno", "reno"))
    assert ours["goodput_bps"][0] == pytest.approx(theirs["goodput_bps"][0], rel=0.02)
    assert ours["retransmitted_packets"][0] > 0


def test_the_example_shows_its_variables(example: Path) -> None:
    scenario = BASE.with_values({"flows.0.cca": f"library:{example}:newreno", "record.variables": True})
    found = fullpipe.run(scenario, allow_python=True).variables
    assert {"state", "window"} <= set(found["name"].to_list())


def test_a_parameter_arrives(example: Path) -> None:
    gentle, harsh = (
        run({"kind": f"library:{example}:newreno", "reduction": value}).flows["rtt_mean_s"][0]
        for value in (0.9, 0.2)
    )
    assert gentle > harsh


def test_what_the_library_refuses_is_said_in_its_words(example: Path) -> None:
    with pytest.raises(EngineError, match=r"flows\[0\]\.cca: .*expected \{ reduction = a number"):
        run({"kind": f"library:{example}:newreno", "reduction": 2.0})


def test_nothing_is_loaded_without_permission(example: Path) -> None:
    kind = f"library:{example.with_name('other.so')}:newreno"
    shutil.copy(example, example.with_name("other.so"))
    with pytest.raises(EngineError, match="would run code"):
        fullpipe.run(BASE.with_values({"flows.0.cca": kind}))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"there is no file no/such\.so"):
        run("library:no/such.so:newreno")


@pytest.mark.parametrize("kind", ["library:mine.so", "library::reno", "library:a.so:", "library:a\x1b.so:b"])
def test_a_name_that_is_none_is_refused(kind: str) -> None:
    with pytest.raises(ScenarioError, match="is not the name of an algorithm in a library"):
        BASE.with_values({"flows.0.cca": kind})


def test_a_file_is_found_beside_the_scenario(tmp_path: Path, example: Path) -> None:
    shutil.copy(example, tmp_path / "beside.so")
    own.look_in(tmp_path)
    own.permit("library:beside.so:newreno")
    assert own.find_library("library:beside.so:newreno") == tmp_path / "beside.so"


def test_another_build_is_another_engine(tmp_path: Path, example: Path) -> None:
    found = []
    for name, more in (("mine.so", b""), ("other.so", b"\0")):
        (tmp_path / name).write_bytes(example.read_bytes() + more)
        own.permit(f"library:{tmp_path / name}:newreno")
        found.append(own.fingerprint(f"library:{tmp_path / name}:newreno"))
    assert found[0] != found[1]


def test_a_library_that_changes_while_it_is_loaded_is_refused(tmp_path: Path, example: Path) -> None:
    kind = f"library:{tmp_path / 'mine.so'}:newreno"
    shutil.copy(example, tmp_path / "mine.so")
    run(kind)
    (tmp_path / "mine.so").unlink()
    (tmp_path / "mine.so").write_bytes(example.read_bytes() + b"\0")
    with pytest.raises(ScenarioError, match="has changed since it was loaded"):
        run(kind)


def test_a_failure_names_algorithm_flow_and_function(tmp_path: Path, example: Path) -> None:
    text = EXAMPLE.read_text().replace(
        "newreno_acked(of(algorithm)", "return FULLPIPE_FAILED; newreno_acked(of(algorithm)"
    )
    (tmp_path / "broken.c").write_text(text)
    library = built(tmp_path / "broken.c", tmp_path / "broken.so", shutil.which("cc") or "cc")
    with pytest.raises(
        ControllerError, match=r"newreno of flow newreno-1 failed at .* in ack: the library reports a failure"
    ):
        run(f"library:{library}:newreno")
