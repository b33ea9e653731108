"""Points of runs: the paths that differ, and their values as numbers."""

from typing import Any

import pytest

from fullpipe import Scenario, sweeps
from fullpipe.analysis.points import path_called, points_of
from fullpipe.scenario.quantities import as_numbers

BASE: dict[str, Any] = {
    "name": "charts",
    "duration": "3 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": {"size": "1 bdp"}},
    },
    "flows": [{"cca": "cubic", "name": "mine", "start_jitter": "1 s"}, {"cca": "cubic", "name": "other"}],
    "record": {"interval": "off"},
    "sweep": {"topology.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"], "flows.0.cca": ["cubic", "bbr3"]},
}


def test_points_are_the_paths_that_differ() -> None:
    scenario = Scenario(**{**BASE, "sweep": {"topology.bottleneck.queue": ["codel", {"packets": 9}]}})
    runs = sweeps.run(sweeps.jobs(scenario))
    assert points_of(runs) == [
        {"topology.bottleneck.queue": {"kind": "codel"}}, {"topology.bottleneck.queue": {"packets": 9}},
    ]  # fmt: skip


def test_of_linked_paths_the_first_is_there() -> None:
    sweep = {"flows.*.cca": ["cubic", "bbr3"], "topology.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"]}
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": sweep})))
    assert list(points_of(runs)[0]) == ["topology.bottleneck.rate", "flows.0.cca"]


def test_times_and_rates_of_points_are_in_units_that_people_use() -> None:
    sweep = {"topology.bottleneck.delay": ["2.5 ms", "10 ms"], "topology.bottleneck.rate": ["1.5 Mbit/s"]}
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": sweep})))
    assert [point["topology.bottleneck.delay"] for point in points_of(runs)] == ["2.5 ms", "10 ms"]


def test_named_variants_are_points_by_their_names() -> None:
    variants = {
        "slow": {"topology.bottleneck.rate": "5 Mbit/s"},
        "fast": {"topology.bottleneck.rate": "9 Mbit/s"},
    }
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": {"line": variants}})))
    assert points_of(runs) == [{"line": "slow"}, {"line": "fast"}]
    # Another command has run a further seed of both scenarios, without the names of the sweep.
    more = [
        run.at({}) for run in sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": {"line": variants}}), [2]))
    ]
    assert points_of([*runs, *more]) == 2 * [{"line": "slow"}, {"line": "fast"}]
    assert points_of([*runs, more[0].at({"line": "other"})])[0].keys() == {"topology.bottleneck.rate"}


def test_runs_that_are_alike_have_no_point() -> None:
    runs = sweeps.run(sweeps.jobs(Scenario(**BASE).expand()[0], [1, 2]))
    assert points_of(runs) == [{}, {}]


@pytest.mark.parametrize(
    ("word", "path"), [("cca", None), ("rate", "a.rate"), ("flows.0.cca", "flows.0.cca"), ("nothing", None)]
)
def test_a_path_is_called_by_its_end_if_no_other_is(word: str, path: str | None) -> None:
    assert path_called(word, ["flows.0.cca", "flows.1.cca", "a.rate"]) == path


def test_the_kind_of_a_table_can_be_left_out_of_a_path_or_added() -> None:
    assert path_called("queue", ["a.queue.kind", "a.rate"]) == "a.queue.kind"
    assert path_called("queue.kind", ["a.queue", "a.rate"]) == "a.queue"


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["10 ms", "1 s"], ([10.0, 1000.0], "ms")),
        (["250 kB", "1 MB", "4 MB"], ([0.25, 1.0, 4.0], "MB")),
        (["4 MB", "1 MB", "250 kB", "1 MB"], ([4.0, 1.0, 0.25, 1.0], "MB")),
        (["0.5 bdp", "4 bdp"], ([0.5, 4.0], "bdp")),
        ([1, 2.5], ([1.0, 2.5], "")),
        (["1 bdp", "10 ms"], None),
        (["cubic", "bbr1"], None),
        ([True, False], None),
        ([], None),
    ],
)
def test_quantities_of_one_dimension_are_numbers(values: list[Any], numbers: Any) -> None:
    assert (
        as_numbers(values) == (pytest.approx(numbers[0]), numbers[1])
        if numbers
        else as_numbers(values) is None
    )
