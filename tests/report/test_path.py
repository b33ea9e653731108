"""The path of a report: numbers of links, swept values, routes."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.palette import COLOURS
from fullpipe.report.content import Path
from fullpipe.report.path import path_of, setup_of
from fullpipe.report.svg.marks import look
from fullpipe.scenario import resolve, scenario_names
from fullpipe.scenario.traces.files import TraceError
from tests.report.pages import scenario

LINK = "topology.bottleneck"


def drawn(*scenarios: Scenario) -> Path:
    """The drawing of scenarios."""
    figure = path_of(scenarios)
    assert figure is not None
    assert isinstance(figure.chart, Path)
    return figure.chart


def test_a_link_has_its_rate_delay_queue_bdp_and_loss() -> None:
    one = scenario(**{f"{LINK}.loss": {"kind": "bernoulli", "probability": 0.01}})
    bdp = 10e6 * 0.02 / 8
    held = 30 * 1514 / bdp
    assert drawn(one).numbers[0] == (
        f"Link 1, bottleneck: 10 Mbit/s, 10 ms delay, queue drop_tail 30 packets ({held:.2g} BDP), loss 1 %"
    )
    assert drawn(one).numbers[-1] == "Base RTT: 20 ms, without serialisation"


def test_swept_values_are_ranges() -> None:
    sizes = [scenario(**{f"{LINK}.queue": {"size": size}}) for size in ("0.5 bdp", "2 bdp", "8 bdp")]
    packets = [resolve(one).links[0].queue.packets for one in sizes]  # type: ignore[union-attr]
    line, _ = drawn(*sizes, scenario(**{f"{LINK}.rate": "40 Mbit/s"}), sizes[0]).numbers
    assert line.startswith("Link 1, bottleneck: 10 to 40 Mbit/s, 10 ms delay, queue drop_tail ")
    alone, _ = drawn(*sizes).numbers
    assert f"drop_tail {min(packets)} to {max(packets)} packets (0.5 to 8 BDP)" in alone


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({f"{LINK}.queue": "fq_codel"}, "queue fq_codel"),
        ({f"{LINK}.queue": {"kind": "drop_tail", "bytes": "1 MB"}}, "queue drop_tail 1 MB (40 BDP)"),
    ],
)
def test_a_queue_is_told_in_its_own_unit(values: dict[str, Any], words: str) -> None:
    assert words in drawn(scenario(**values)).numbers[0]


def test_durations_warm_up_jitter_and_segments_are_in_words() -> None:
    assert setup_of([scenario()]) == "2 s, without warm-up; start jitter up to 20 ms; MSS 1,448 B"
    other = scenario(duration="40 s", warmup="10 s", **{"flows.0.tcp.mss": "1200 B"})
    both = "2 to 40 s, 0 to 10 s of them warm-up; start jitter up to 20 ms; MSS 1,200 to 1,448 B"
    assert setup_of([scenario(), other]) == both
    assert setup_of([other], is_of_a_file=True) == "40 s, 10 s of them warm-up"


def test_queues_of_several_kinds_are_named() -> None:
    line, _ = drawn(scenario(), scenario(**{f"{LINK}.queue": "fq_codel"})).numbers
    assert line.endswith("queue drop_tail 30 packets (1.8 BDP) or fq_codel")


def test_groups_have_their_algorithms_and_counts_and_cross_the_same_link() -> None:
    found = drawn(
        scenario(**{"flows.0.name": "mine", "flows.1.count": 3}), scenario(**{"flows.0.cca": "reno"})
    )
    assert [route.label for route in found.routes] == ["mine (CUBIC or Reno)", "1 to 3 x BBRv3"]
    first, second = (route.nodes for route in found.routes)
    assert first[1:3] == second[1:3] == list(found.hops[0].ends or ())


def test_the_sender_of_several_flows_has_their_number() -> None:
    path = drawn(scenario(**{"flows.0.name": "mine", "flows.1.name": "old", "flows.1.count": 2}))
    assert [node.name for node in path.nodes if node.is_host and node.column == 0] == ["mine", "2 x old"]


def test_a_sweep_of_many_algorithms_says_how_many_are_not_named() -> None:
    swept = [
        scenario(**{"flows.0.cca": cca}) for cca in ("cubic", "reno", "vegas", "bbr1", "bbr3", "htcp", "bic")
    ]
    assert drawn(*swept).routes[0].label == "CUBIC, Reno, Vegas, BBRv1 and 3 more"


def test_groups_of_one_algorithm_have_its_colour() -> None:
    named = {"flows.0.name": "mine", "flows.1.cca": "cubic", "flows.1.count": 2}
    first, second = (route.look for route in drawn(scenario(**named)).routes)
    assert first.colour == look("cubic", 5).colour
    assert second.colour == first.colour + len(COLOURS), "the second shade of the same colour"
    assert first.dash != second.dash


def test_a_way_back_that_differs_has_a_line_of_its_own() -> None:
    slow = scenario(**{"topology.reverse": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": {"packets": 30}}})
    first, second, _ = drawn(slow).numbers
    assert first.startswith("Link 1, bottleneck: 10 Mbit/s")
    assert second.startswith("Link 2, bottleneck-reverse: 1 Mbit/s")


def test_links_of_a_chain_are_numbered_along_it() -> None:
    found = drawn(Scenario.named("parking-lot"))
    assert [node.name for node in found.nodes] == ["a", "b", "c", "d"]
    assert [hop.ends for hop in found.hops] == [(0, 1), (1, 2), (2, 3)]
    assert len(found.numbers) == 4


def test_the_air_of_a_cell_is_marked() -> None:
    found = drawn(Scenario.named("home-wifi"))
    (air,) = [line for line, hop in zip(found.numbers, found.hops, strict=False) if hop.is_air]
    assert "of the cell at its best" in air


def test_without_its_recording_there_is_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise TraceError("lte.down", "no such file")

    monkeypatch.setattr("fullpipe.report.path.resolve", away)
    assert path_of([scenario()]) is None
    assert path_of([]) is None


def test_a_network_that_no_drawing_holds_is_left_out_at_once() -> None:
    flows = [{"name": f"flow {n}", "cca": "cubic"} for n in range(200)]
    assert path_of([Scenario(**{**scenario().to_dict(), "flows": flows})]) is None


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_that_comes_along_is_drawn(name: str) -> None:
    found = drawn(*Scenario.named(name).expand()[:2])
    assert len(found.numbers) <= 11
    assert all(0 <= end < len(found.nodes) for hop in found.hops for end in hop.ends or ())
