"""Runs that are too short for their means: the laws, the words, and whether the warning is right."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fullpipe import Scenario, run, sweeps
from fullpipe.analysis import values
from fullpipe.analysis.expected import cycle_s, start_up_s
from fullpipe.analysis.length import (
    EXAMINED,
    doubts_of,
    drifting,
    need,
    reservations,
    shortfall,
    warnings_of,
)
from fullpipe.analysis.metrics.groups import waits_for_others
from fullpipe.analysis.regions import random_points, region
from fullpipe.analysis.statistics import doubtful_means, stationarity
from fullpipe.analysis.statistics.stationarity import EVERY_MEAN, Course, moving
from fullpipe.runs import Run, Store
from fullpipe.runs.meta import READERS

FullPipe = Callable[..., Any]
SEEDS = 8
MATTERS = 0.05
"""Of an equal share: what a mean may move by."""


def scenario(ccas: list[str], *, rate: float, rtt: float, queue: Any, lasts: str, warmup: str) -> Scenario:
    bottleneck = {"rate": f"{rate:.3f} Mbit/s", "delay": f"{rtt / 2:.3f} ms", "queue": queue}
    return Scenario(
        name="length",
        duration=lasts,
        warmup=warmup,
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flows=[{"name": f"f{n}", "cca": cca, "start_jitter": "500 ms"} for n, cca in enumerate(ccas)],
        record={"interval": "off"},
    )


def is_warned_of(made: Run) -> bool:
    return shortfall([{}], [made]) is not None


def test_cycles_are_those_of_the_specifications() -> None:
    # RFC 9438, figure 2: K = cbrt(W_max (1 - 0.7) / 0.4); W = 1000: cbrt(750) s.
    assert cycle_s("cubic", 1000, 0.1, is_shared=True) == pytest.approx(750 ** (1 / 3))
    # W = 10 at 10 ms: Reno-friendly, 3 packets at 9/17 per round trip.
    assert cycle_s("cubic", 10, 0.01, is_shared=True) == pytest.approx(3 / (9 / 17) * 0.01)
    assert cycle_s("reno", 80, 0.05, is_shared=False) == pytest.approx(2.0)
    assert cycle_s("vegas", 80, 0.05, is_shared=True) == pytest.approx(2.0)
    assert [cycle_s(cca, 500, 0.1, is_shared=True) for cca in ("bbr1", "bbr3")] == [10, 5]
    assert cycle_s("bbr1", 500, 0.1, is_shared=False) == pytest.approx(0.8)
    assert cycle_s("bbr3", 500, 0.1, is_shared=False) == 3  # 62 round trips were more
    assert cycle_s("bbr3", 20, 0.02, is_shared=False) == pytest.approx(0.4)
    assert start_up_s(160, 0.1) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("queue", "waits"), [("fq_codel", False), ("cake", False), ("codel", True), (None, True)]
)
def test_flows_wait_for_each_other_unless_the_queue_is_fair(queue: str | None, waits: bool) -> None:
    given = {"kind": queue} if queue else {"size": "1 bdp"}
    made = run(scenario(["cubic"] * 2, rate=10, rtt=20, queue=given, lasts="2 s", warmup="0 s"))
    assert waits_for_others(made) is waits


def test_a_flow_alone_needs_no_more_than_its_start_up_left_out() -> None:
    def alone(warmup: str) -> Run:
        return run(scenario(["reno"], rate=40, rtt=100, queue={"size": "1 bdp"}, lasts="6 s", warmup=warmup))

    assert is_warned_of(alone("0 s"))
    assert not is_warned_of(alone("3 s"))


def test_a_flow_that_comes_later_is_measured_from_its_own_start() -> None:
    base = scenario(["cubic"] * 2, rate=10, rtt=20, queue={"size": "1 bdp"}, lasts="40 s", warmup="5 s")
    late = base.with_values({"flows.1.start": "37 s"})
    whole, part = (need(run(each), is_shared=True) for each in (base, late))
    assert whole
    assert part
    assert whole.measured_s == pytest.approx(35)
    assert 0 < part.early_s < part.measured_s < 3


def deep(lasts: str, warmup: str, ccas: list[str]) -> list[Run]:
    """Flows in a buffer of 8 BDP, where BBRv3 needs about 40 s to reach its share beside CUBIC."""
    made = scenario(ccas, rate=20, rtt=40, queue={"size": "8 bdp"}, lasts=lasts, warmup=warmup)
    return [run(made.with_values({"record.interval": "100 ms"}), seed=seed) for seed in range(1, 7)]


def test_means_that_have_not_settled_are_named() -> None:
    short, long = deep("30 s", "5 s", ["cubic", "bbr3"]), deep("120 s", "45 s", ["cubic", "bbr3"])
    early, late = (sum(r.flows["goodput_bps"][1] for r in of) / len(of) for of in (short, long))
    assert abs(early / late - 1) > 0.1  # the mean of 25 s is another one
    told = drifting([{}] * len(short), short)
    assert told
    assert re.match(r"goodput of f[01] has not settled in [456] of 6 runs: its second half is \d+ % ", told)
    assert told in warnings_of(short)[-1]
    assert drifting([{}] * len(long), long) is None
    doubts = [doubtful_means(each.series, each.flows, each.scenario.warmup_s) for each in short]
    doubted = sum(any(doubt.quantity == "goodput" for doubt in of) for of in doubts)
    assert doubted >= 4  # the same runs that `fullpipe metrics` flags


def test_commands_and_files_say_that_means_have_not_settled(fullpipe: FullPipe, tmp_path: Path) -> None:
    made = deep("30 s", "5 s", ["cubic", "bbr3"])[0].scenario
    (tmp_path / "deep.toml").write_text(made.to_toml(), encoding="utf-8")
    over = ("deep.toml", "--over", "topology.bottleneck.queue.size=8 bdp,7 bdp", "--seeds", 6)
    on_terminal = fullpipe("compare", *over, "-o", "c.json", "--all")
    assert "has not settled at 2 of 2 points" in " ".join(on_terminal.stderr.split())
    stored = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["warnings"]
    assert ["has not settled at 2 of 2 points" in line for line in stored] == [True]
    in_lines = [json.loads(line) for line in fullpipe("compare", *over, "--json").stdout.splitlines()]
    assert [line["warnings"] for line in in_lines] == [stored]
    marked = {(each["of"], each["metric"]): each["doubts"] for line in in_lines for each in line["findings"]}
    assert marked["f1", "goodput"] == marked["all flows", "jain"] == ["means not settled"]
    assert marked["f1", "retransmitted"] == marked["all flows", "goodput"] == []
    assert "† means not settled: see the warnings" in on_terminal.stdout
    labelled = fullpipe("compare", *over, "--label", "flows.f1=newcomer", "--all")
    assert "goodput of newcomer has" in " ".join(labelled.stderr.split())
    assert labelled.stdout.count("†") == on_terminal.stdout.count("†")
    fullpipe("report", "c.json", "-o", "c.md")
    page = (tmp_path / "c.md").read_text(encoding="utf-8")
    assert "has not settled at 2 of 2 points" in page
    assert "† means not settled: see the warnings" in page
    over_seeds = fullpipe("run", "deep.toml", "--seeds", 6)
    assert "has not settled in" in " ".join(over_seeds.stderr.split())
    values = "topology.bottleneck.queue.size"
    tested = fullpipe("test", "runs", "--metric", "goodput", "--factor", values, "--json", "-o", "t.json")
    for found in (json.loads(tested.stdout), json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))):
        assert ["has not settled at 2 of 2 points" in line for line in found["warnings"]] == [True]


def test_alike_flows_have_settled_although_each_run_oscillates() -> None:
    alike = deep("60 s", "20 s", ["cubic", "cubic"])
    assert drifting([{}] * len(alike), alike) is None
    assert drifting([], []) is None


def test_points_whose_means_have_not_settled_are_named() -> None:
    runs = [*deep("30 s", "5 s", ["cubic", "bbr3"]), *deep("30 s", "5 s", ["cubic", "cubic"])]
    points = [{"flows.1.cca": run.scenario.flows[1].described} for run in runs]
    told = str(drifting(points, runs))
    assert "has not settled at 1 of 2 points, where" in told
    assert " = bbr3: its second half" in told
    singly = [*runs[:1], *runs[6:7]]
    assert drifting(points[:1] + points[6:7], singly) is None  # one run cannot tell drift from chance


def _changes(kind: str, rng: np.random.Generator, size: tuple[int, int]) -> Any:
    """Changes of means that have settled. Rare events are outages of a fifth of a run, in 3 of 10 runs."""
    if kind == "normal":
        return rng.normal(0, 0.1, size)
    begins = rng.integers(0, 160, size)
    halves = 1 - np.clip(begins - 60, 0, 40) / 20  # an outage across the middle is in both halves
    return np.where(rng.random(size) < 0.3, -0.38 * halves, 0.0) + rng.normal(0, 0.003, size)


@pytest.mark.parametrize("kind", ["normal", "rare events"])
@pytest.mark.parametrize(("seeds", "means"), [(3, 60), (3, 400), (5, 60), (10, 12)])
def test_few_families_of_settled_means_have_a_warning(kind: str, seeds: int, means: int) -> None:
    rng, families = np.random.default_rng(seeds * means), 200
    alarms = 0
    for _ in range(families):
        found = {
            point: [Course(float(change), True, 0.0) for change in of]
            for point, of in enumerate(_changes(kind, rng, (means, seeds)))
        }
        alarms += bool(moving(found, means, 2))
    assert alarms <= stats.binom.ppf(0.999, families, 0.05)


def test_means_that_move_are_found_with_three_seeds_among_many_that_do_not() -> None:
    rng = np.random.default_rng(1)
    changes = rng.normal(0, 0.01, (60, 3))
    changes[:5] += 0.3
    found = {point: [Course(float(change), True, 0.0) for change in of] for point, of in enumerate(changes)}
    assert {0, 1, 2, 3, 4} >= set(moving(found, 60, 2))
    assert len(moving(found, 60, 2)) >= 2


def test_a_noisy_point_hides_no_means_that_move_at_other_points() -> None:
    rng, hits = np.random.default_rng(5), 0
    for _ in range(100):
        changes = rng.normal(0, 0.01, (6, 3))
        changes[0] += 0.2
        changes[5] = rng.normal(0, 0.5, 3)
        found = {point: [Course(float(each), True, 0.0) for each in of] for point, of in enumerate(changes)}
        hits += 0 in moving(found, 6, 3)
    assert hits >= 95


def test_examined_points_have_all_values_of_an_axis_and_equally_many_seeds() -> None:
    examined = random_points([[3 * n, 3 * n + 1, 3 * n + 2] for n in range(300)], EXAMINED, 3)
    assert {len(of) for of in examined} == {3}
    assert {of[0] // 3 % 2 for of in examined} == {0, 1}
    assert EXAMINED - 3 < 3 * len(examined) <= EXAMINED
    assert random_points([[0, 1, 2], [3, 4, 5, 6]], EXAMINED, 3) == [[0, 1, 2], [3, 4, 5]]
    assert random_points([], EXAMINED, 3) == []


def test_a_store_keeps_what_tells_whether_means_have_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "LOADED_NS", 1 << 62)  # the code may change while the tests run
    base = scenario(["cubic", "bbr3"], rate=20, rtt=40, queue={"size": "8 bdp"}, lasts="30 s", warmup="5 s")
    swept = base.with_values({"record.interval": "100 ms", "sweep": {"flows.1.cca": ["bbr3", "cubic"]}})
    todo = sweeps.jobs(swept, range(1, 6))

    def told(store: Store | None) -> str | None:
        outcomes = list(sweeps.stream(todo, store=store))
        return drifting([each.job.point for each in outcomes], [each.run for each in outcomes])

    fresh, courses = told(None), stationarity.courses
    assert "where" in str(fresh)
    assert told(Store(tmp_path)) == fresh
    monkeypatch.setattr(stationarity, "courses", None)
    assert told(Store(tmp_path)) == fresh
    monkeypatch.setattr(values, "LOADED_NS", 0)  # other code
    with pytest.raises(TypeError):
        told(Store(tmp_path))
    monkeypatch.setattr(stationarity, "courses", courses)
    assert told(Store(tmp_path)) == fresh


def test_what_the_warning_says_to_set_is_long_enough() -> None:
    short = scenario(["bbr3", "cubic"], rate=20, rtt=60, queue={"size": "1 bdp"}, lasts="5 s", warmup="1 s")
    told = shortfall([{}], [run(short)])
    assert told
    assert told.startswith("the run is too short for means: the cycle of bbr3 is 5 s")
    words = told.split('"')
    longer = short.with_values({"duration": words[1], "warmup": words[3]})
    assert not is_warned_of(run(longer))


def test_the_settings_of_one_warning_are_enough_for_every_point() -> None:
    common: dict[str, Any] = {"rate": 20, "queue": {"size": "1 bdp"}, "lasts": "5 s", "warmup": "1 s"}
    short = [scenario(["bbr3", "cubic"], rtt=60, **common), scenario(["cubic"], rtt=400, **common)]
    points = [{"topology.bottleneck.delay": delay} for delay in ("30 ms", "200 ms")]
    told = str(shortfall(points, [run(each) for each in short]))
    assert told.startswith("2 of 2 points are too short for means: the cycle of bbr3 is 5 s")
    words = told.split('"')
    longer = {"duration": words[1], "warmup": words[3]}
    assert shortfall(points, [run(each.with_values(longer)) for each in short]) is None


def test_the_settings_of_short_runs_are_enough_for_means_that_have_not_settled() -> None:
    runs = deep("12 s", "1 s", ["cubic", "bbr3"])
    points = [{}] * len(runs)
    told, moving = reservations(points, runs)
    alone = str(drifting(points, runs))
    assert alone.startswith(moving)
    (of_both, of_one) = (float(each.rpartition('warmup = "')[2].split()[0]) for each in (told, alone))
    assert of_both >= of_one > 1
    first, *means = doubts_of(runs).means[runs[0].meta.digest, "native"]
    assert first == EVERY_MEAN
    assert [f"{mean.quantity} of {mean.group}" for mean in means[:3]] == re.findall(r"\w+ of f\d", moving)


def test_warnings_of_several_scenarios_name_them() -> None:
    short = scenario(["bbr3", "cubic"], rate=20, rtt=60, queue={"size": "1 bdp"}, lasts="5 s", warmup="1 s")
    runs = [run(short.model_copy(update={"name": name})) for name in ("one", "two")]
    assert [told.partition(": ")[0] for told in warnings_of(runs)] == ["Warning of one", "Warning of two"]
    assert warnings_of(runs[:1])[0].startswith("Warning: the run is too short for means: ")
    assert warnings_of([]) == []


def test_what_the_warning_says_of_a_flow_that_comes_later_is_enough() -> None:
    both = scenario(["cubic"] * 2, rate=10, rtt=200, queue={"size": "1 bdp"}, lasts="12 s", warmup="2 s")
    late = both.with_values({"flows.1.start": "6 s"})
    words = str(shortfall([{}], [run(late)])).split('"')
    assert not is_warned_of(run(late.with_values({"duration": words[1], "warmup": words[3]})))


def test_a_later_flow_with_little_start_up_leaves_the_warm_up_where_it_is() -> None:
    both = scenario(["bbr3", "cubic"], rate=20, rtt=20, queue={"size": "1 bdp"}, lasts="18 s", warmup="2 s")
    late = both.with_values({"flows.1.start": "9 s"})
    assert str(shortfall([{}], [run(late)])).endswith('and warmup = "2 s", or longer')


def stopping(stop: str, lasts: str = "5 s") -> Scenario:
    """Two flows that compete, for less than three cycles unless they stop later."""
    both = scenario(["bbr3", "cubic"], rate=20, rtt=60, queue={"size": "1 bdp"}, lasts=lasts, warmup="1 s")
    return both.with_values({"flows.0.stop": stop, "flows.1.stop": stop})


@pytest.mark.parametrize("lasts", ["4 s", "5 s", "40 s"])
def test_a_longer_run_is_not_advised_where_flows_stop_at_given_times(lasts: str) -> None:
    told = shortfall([{}], [run(stopping("4 s", lasts))])
    assert told
    assert "; let flows with a `stop` stop " in told
    assert ("set duration" in told) is (lasts != "40 s")


def test_flows_that_stop_as_much_later_as_the_warning_says_are_measured_for_long_enough() -> None:
    told = str(shortfall([{}], [run(stopping("4 s"))]))
    later_s = float(told.partition("` stop ")[2].split()[0])
    assert not is_warned_of(run(stopping(f"{4 + later_s} s", lasts=told.split('"')[1])))


def test_a_longer_run_is_advised_for_the_flows_that_it_prolongs() -> None:
    both = scenario(["bbr3", "cubic"], rate=20, rtt=60, queue={"size": "1 bdp"}, lasts="5 s", warmup="1 s")
    told = shortfall([{}], [run(both.with_values({"flows.1.stop": "4 s"}))])
    assert told
    assert '; set duration = "' in told


def test_flows_in_turns_do_not_compete() -> None:
    both = scenario(["reno"] * 2, rate=40, rtt=40, queue={"size": "1 bdp"}, lasts="30 s", warmup="0 s")
    turns = both.with_values({"flows.0.stop": "15 s", "flows.1.start": "15 s", "flows.1.start_jitter": "0 s"})
    of_turns, of_both = (need(run(each), is_shared=True) for each in (turns, both))
    assert of_turns
    assert of_both
    assert of_turns.cycle_s == 0 < of_both.cycle_s


def test_of_a_measurement_it_is_said_how_much_longer_to_measure() -> None:
    made = run(stopping("4 s"))
    engine = made.meta.engine.model_copy(update={"model_version": READERS["flent"]})
    told = shortfall([{}], [Run(made.meta.model_copy(update={"engine": engine}), made.tables)])
    assert told
    assert told.endswith(" s longer")
    assert "; measure " in told


def test_no_flows_that_always_send_need_nothing() -> None:
    calls = Scenario.named("single-cubic").with_values({"flows": [{"workload": "voip"}], "duration": "2 s"})
    assert not is_warned_of(run(calls))


def test_a_region_is_said_by_the_path_that_takes_fewest_words() -> None:
    grid = [{"delay": f"{d} ms", "cca": cca} for d in (5, 50, 500) for cca in ("bbr3", "cubic")]
    words = {"delay": "delay", "cca": "cca"}
    assert region(grid, [2, 3, 4, 5], words) == "delay >= 50 ms"
    assert region(grid, [1, 3], words) == "delay <= 50 ms with cca = cubic"
    assert region(grid, [0, 1, 4, 5], words) == "delay = 5 ms or 500 ms"
    assert region(grid, range(6), words) == ""
    checks = [{"x": x, "y": y} for x in range(9) for y in range(9)]
    odd = [n for n, point in enumerate(checks) if (point["x"] * 7 + point["y"] * 3) % 5 == 0]
    assert len(region(checks, odd, {"x": "x", "y": "y"})) < 200


@pytest.fixture
def store(fullpipe: FullPipe, tmp_path: Path) -> tuple[Path, str]:
    """A store of four points, of which two are too short, and what `run` said."""
    made = scenario(["cubic", "reno"], rate=10, rtt=20, queue={"size": "1 bdp"}, lasts="15 s", warmup="2 s")
    swept = {"topology.bottleneck.delay": ["5 ms", "80 ms"], "flows.0.cca": ["cubic", "reno"]}
    (tmp_path / "line.toml").write_text(made.with_values({"sweep": swept}).to_toml(), encoding="utf-8")
    done = fullpipe("run", "line.toml", "--seeds", 2, "--out", "kept")
    assert done.exit_code == 0
    return tmp_path / "kept", done.stderr


def test_table_figure_report_and_metrics_say_which_points_are_too_short(
    fullpipe: FullPipe, store: tuple[Path, str], tmp_path: Path
) -> None:
    kept, said = store
    told = "2 of 4 points are too short for means, where one-way delay = 80 ms: "
    assert f"warning: {told}" in said
    figure = ("--kind", "heatmap", "--metric", "share", "--of", "f0")
    assert f"warning: {told}" in fullpipe("plot", kept, *figure).stderr
    assert fullpipe("report", kept, "-o", "r.md").exit_code == 0
    assert f"Warning: {told}" in (tmp_path / "r.md").read_text(encoding="utf-8").replace("\\", "")
    shown = fullpipe("metrics", kept).stdout
    assert shown.count("the run is too short for means") == 4  # two points, two seeds
    assert shown.count("no samples, so the means cannot be checked") == 8


@pytest.mark.parametrize(
    ("where", "told"),
    [("delay=5 ms", ""), ("delay=80 MS", "2 of 2 points are too short for means: ")],
)
def test_warnings_are_on_the_runs_that_where_chooses(
    fullpipe: FullPipe, store: tuple[Path, str], where: str, told: str
) -> None:
    kept, _ = store
    made = [
        fullpipe("table", kept, "--where", where),
        fullpipe("plot", kept, "--metric", "goodput", "--x", "cca", "--where", where),
        fullpipe("test", kept, "--metric", "goodput", "--factor", "cca", "--where", where, "-o", "t.json"),
    ]
    for done in made:
        assert done.exit_code == 0
        assert ("too short" in done.stderr) == bool(told)
        assert told in done.stderr
    found = json.loads((kept.parent / "t.json").read_text(encoding="utf-8"))
    assert len(found["basis"]["runs"]) == 4


def test_the_warning_tells_means_that_move_from_those_that_do_not(cases: Callable[[int], int]) -> None:
    """Set-ups on which nothing was chosen: random ones, each run once as it is and once four times longer."""
    draw = random.Random("length of runs")
    hits, false, moved, steady = 0, 0, 0, 0
    for _ in range(cases(160)):
        drawn, lasts_s, warmup_s = _drawn(draw)
        runs = [
            [run(_lasting(drawn, k * lasts_s, warmup_s), seed=seed) for seed in range(SEEDS)] for k in (1, 4)
        ]
        is_moved = _is_moved(*(np.array([r.flows["goodput_bps"] for r in each]) for each in runs))
        is_warned = shortfall([{}] * SEEDS, runs[0]) is not None
        moved, steady = moved + (is_moved is True), steady + (is_moved is False)
        hits, false = hits + (is_moved is True and is_warned), false + (is_moved is False and is_warned)
    print(f"{hits} of {moved} that move are warned of, and {false} of {steady} that do not")
    assert moved > 0
    assert moved - hits <= max(1, 0.25 * moved)
    assert false <= 0.33 * steady


def _drawn(draw: random.Random) -> tuple[dict[str, Any], float, float]:
    rate, rtt = 10 ** draw.uniform(0.6, 1.5), 10 ** draw.uniform(0.7, 2.3)
    fifo = {"kind": "drop_tail", "size": f"{2 ** draw.uniform(-2, 3):.3f} bdp"}
    queue = draw.choice([fifo] * 4 + [{"kind": "fq_codel"}])
    ccas = draw.choices(["cubic", "bbr3", "bbr1", "reno"], [2, 2, 1, 1], k=draw.choice([1, 2, 2, 2, 4]))
    lasts_s = draw.choice([5, 10, 20])
    drawn = {"ccas": ccas, "rate": rate, "rtt": rtt, "queue": queue}
    return drawn, lasts_s, draw.choice([0, lasts_s / 5, lasts_s / 2])


def _lasting(drawn: dict[str, Any], lasts_s: float, warmup_s: float) -> Scenario:
    return scenario(**drawn, lasts=f"{lasts_s} s", warmup=f"{warmup_s} s")


def _is_moved(short: Any, long: Any) -> bool | None:
    """Whether a mean goodput moves by more than matters; None if seeds do not tell."""
    allowed = MATTERS * short.sum(axis=1).mean() / short.shape[1]
    apart = long - short
    half = stats.t.ppf(0.975, SEEDS - 1) * apart.std(axis=0, ddof=1) / sqrt(SEEDS)
    mean = np.abs(apart.mean(axis=0))
    if (mean - half > allowed).any():
        return True
    return None if (mean + half >= allowed).any() else False
