"""The order in which a store tells its scenarios: that in which they were named."""

import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import fullpipe
from fullpipe import Scenario, sweeps
from fullpipe.analysis.stored import StoredRuns
from fullpipe.cli.test import stored
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Store, segments
from tests.report.pages import sentences

QUEUE = "topology.bottleneck.queue"


def scenario(*algorithms: str, **values: Any) -> Scenario:
    """One flow with each of some algorithms, with a deep queue and a fair one."""
    return Scenario(
        name="line",
        duration="1 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}},
        flows=[{"cca": "reno", "name": "mine", "start_jitter": "50 ms"}],
        record={"interval": "off"},
        sweep={
            "flows.0.cca": list(algorithms),
            "queue": {"deep": {QUEUE: {"size": "1 s"}}, "cake": {QUEUE: "cake"}},
        },
        **values,
    )


def run_in(root: Path, *algorithms: str) -> None:
    """Run the scenario with two seeds, in a store."""
    sweeps.run(sweeps.jobs(scenario(*algorithms), [1, 2]), store=Store(root), workers=2)


def told(root: Path) -> list[str]:
    """The algorithms of a store, as they come."""
    return list(dict.fromkeys(run.meta.point["flows.0.cca"] for run in Store(root)))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    run_in(tmp_path / "runs", "reno", "cubic", "bbr1")
    return tmp_path / "runs"


def test_runs_come_in_the_order_of_the_file(root: Path) -> None:
    assert told(root) == ["reno", "cubic", "bbr1"]
    points = [(run.meta.point["flows.0.cca"], run.meta.point["queue"], run.meta.seed) for run in Store(root)]
    assert points[:4] == [("reno", "deep", 1), ("reno", "deep", 2), ("reno", "cake", 1), ("reno", "cake", 2)]
    listed = StoredRuns(root).runs
    assert listed["flows.0.cca"].unique(maintain_order=True).to_list() == ["reno", "cubic", "bbr1"]
    assert listed["queue"].unique(maintain_order=True).to_list() == ["deep", "cake"]


def test_verdicts_of_a_report_are_against_the_first_named(root: Path) -> None:
    answer = "\n".join(sentences(page_of(Store(root))))
    assert "cubic against reno" in answer
    assert "cake against deep" in answer
    assert "deep against cake" not in answer


def test_a_test_has_the_levels_in_the_order_of_the_file(root: Path) -> None:
    points = [point for point, _ in stored(root)]
    assert list(dict.fromkeys(point["queue"] for point in points)) == ["deep", "cake"]
    assert list(dict.fromkeys(point["flows.0.cca"] for point in points)) == ["reno", "cubic", "bbr1"]


def test_another_order_of_the_file_counts_though_no_run_is_made(root: Path) -> None:
    run_in(root, "bbr1", "reno", "cubic")
    assert told(root) == ["bbr1", "reno", "cubic"]


def test_what_one_command_adds_or_repeats_does_not_move_the_others(root: Path) -> None:
    run_in(root, "cubic")
    assert told(root) == ["reno", "cubic", "bbr1"]
    run_in(root, "reno", "vegas", "cubic")
    assert told(root) == ["reno", "vegas", "cubic", "bbr1"]
    point = scenario("westwood").expand()[0]
    fullpipe.run(point, out=root)
    assert Store(root).index().runs["digest"][-1] == point.digest


def test_an_interrupted_sweep_keeps_its_order(tmp_path: Path) -> None:
    outcomes = sweeps.stream(sweeps.jobs(scenario("reno", "cubic")), store=Store(tmp_path))
    first = next(outcomes)
    assert isinstance(outcomes, Generator)
    outcomes.close()
    assert segments.read(tmp_path) == [first.run.meta.digest]


def test_merged_runs_keep_their_order_behind_those_that_were_there(root: Path, tmp_path: Path) -> None:
    run_in(tmp_path / "more", "vegas", "reno")
    Store(root).merge(Store(tmp_path / "more"))
    assert set(told(root)) == {"vegas", "reno", "cubic", "bbr1"}
    assert [name for name in told(root) if name != "vegas"] == ["reno", "cubic", "bbr1"]


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"../..\nnothing\n"])
def test_without_the_order_points_go_by_name_and_numbers_by_size(
    root: Path, tmp_path: Path, content: bytes | None
) -> None:
    if content is None:
        (root / segments.FILE).unlink()
    else:
        (root / segments.FILE).write_bytes(content)
    shutil.rmtree(root / ".index", ignore_errors=True)
    assert told(root) == ["bbr1", "cubic", "reno"]
    assert StoredRuns(root).runs["flows.0.cca"].unique(maintain_order=True).to_list() == told(root)
    assert sorted(["10 ms", "5 ms", "2.5 ms"], key=segments.by_size) == ["2.5 ms", "5 ms", "10 ms"]


def test_a_store_that_is_only_read_is_as_it_was(root: Path) -> None:
    before = (root / segments.FILE).stat().st_mtime_ns
    run_in(root, "reno", "cubic", "bbr1")
    list(Store(root))
    assert (root / segments.FILE).stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("before", "named", "after"),
    [
        ("", "ab", "ab"),
        ("abc", "", "abc"),
        ("abc", "cab", "cab"),
        ("abc", "b", "abc"),
        ("abc", "ca", "cba"),
        ("abc", "xa", "xabc"),
        ("abc", "axb", "axbc"),
        ("abc", "xy", "abcxy"),
    ],
)
def test_orders_are_merged(before: str, named: str, after: str) -> None:
    assert "".join(segments.merged(before, named)) == after
