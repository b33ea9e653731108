"""Reasons to doubt means: runs too short for the algorithms to adapt, and means that have not settled."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.expected import cycle_s, start_up_s
from fullpipe.analysis.metrics.groups import bulk_names, flow_directions, flow_groups, waits_for_others
from fullpipe.scenario.model.flows import flow_names

if TYPE_CHECKING:
    from fullpipe.analysis.statistics.stationarity import Course, Mean
    from fullpipe.analysis.values import Labelled
    from fullpipe.runs import Run
    from fullpipe.scenario import Scenario
    from fullpipe.scenario.labels import Labels

CYCLES = 3
"""Minimum number of adaptation cycles of the slowest flow that a mean must cover, if flows compete."""
START_UP = 0.05
"""Largest share of the measured time that may be start-up."""
_SEEDS = 3
"""Seeds that are examined per point."""
EXAMINED = 400
"""Maximum number of runs whose samples are examined."""
FEWEST_SEEDS = 3
"""Minimum number of seeds of a point at which drift can be told from chance."""
_MOST_NAMED = 2
_LONGEST_WHERE = 160
"""Maximum length of the description of points, in characters."""
_LEAST_HALF = 0.01
"""Smallest mean of the first half that is a base of percentages, as a share of the mean."""
_LATE_RTT, _MOST_GROWTH = "rtt_p95_s", 4
"""Column with the RTT after start-up, and the largest ratio of the goodput after start-up to its mean."""
_COLUMNS = ("flow", "cca", "start_s", "end_s", "goodput_bps", "rtt_mean_s")
_Points = Sequence[Mapping[str, Any]]
_Places = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Need:
    """The adaptation time of the bulk flows of a run, and the time for which they were measured."""

    cca: str
    """Algorithm of the flow that adapts slowest."""
    cycle_s: float
    """Adaptation cycle of that flow; 0 if no flow competes with another."""
    later_cycle_s: float
    """Adaptation cycle after start-up, in which the window is larger than its mean."""
    early_s: float
    """Longest time for which the start-up of a flow continues after the warm-up."""
    settled_s: float
    """Time at which all start-up is over. Flows that start after the warm-up count only if their start-up
    exceeds the share `START_UP` of their measured time."""
    measured_s: float
    """Shortest time after the warm-up for which a flow is active."""
    is_stopped: bool
    """Whether a flow ends at its `stop`, so that a longer run does not prolong it."""

    @property
    def cycles(self) -> float:
        """Adaptation cycles of the slowest flow in the measured time."""
        return self.measured_s / self.cycle_s if self.cycle_s else inf

    @property
    def is_short(self) -> bool:
        """Whether the means of the run should not be trusted."""
        return self.cycles < CYCLES or self.early_s > START_UP * self.measured_s

    @property
    def missing_s(self) -> float:
        """Additional measured time that is needed if the warm-up covers all start-up."""
        return max(CYCLES * self.later_cycle_s - self.measured_s, 0.0)

    @property
    def missing_to_stop_s(self) -> float:
        """Seconds by which the `stop` of the flows must be later, with the same warm-up."""
        return max(self.missing_s, self.early_s / START_UP - self.measured_s)

    def __str__(self) -> str:
        told = []
        if self.cycles < CYCLES:
            needed_s, measured_s = map(_seconds, (CYCLES * self.cycle_s, self.measured_s))
            cycle = f"the cycle of {self.cca} is {_seconds(self.cycle_s)}"
            told.append(f"{cycle}, and a mean needs three ({needed_s}), but {measured_s} are measured")
        if self.early_s > START_UP * self.measured_s:
            told.append(f"{_seconds(self.early_s)} of the {_seconds(self.measured_s)} measured are start-up")
        return "; ".join(told)


def need(run: Run, *, is_shared: bool) -> Need | None:
    """Return the measured time that the means of a run's bulk flows need; None without bulk flows.

    The measured time must have at least three cycles of the slowest competing flow. Start-up may be at most
    5 % of the measured time. A flow without competitors fills its path whatever its cycle, so that only its
    start-up counts.

    A longer run does not prolong a flow that ends at its `stop`. The needs of such flows are therefore
    returned only if all other flows are measured for long enough.

    Args:
        run: A run of any engine.
        is_shared: See `waits_for_others`.
    """
    every = [each for way in _competing(run) for each in _needs(run, way, is_shared)]
    lasting = [each for each in every if not each.is_stopped]
    needs = [_together(each) for each in (lasting, every) if each]
    return next((each for each in needs if each.is_short), needs[0] if needs else None)


def _together(needs: Sequence[Need]) -> Need:
    """Combine the needs of several flows: the longest cycle with the shortest measured time."""
    slowest = max(needs, key=lambda each: each.cycle_s)
    return replace(
        slowest,
        later_cycle_s=max(each.later_cycle_s for each in needs),
        early_s=max(each.early_s for each in needs),
        settled_s=max(each.settled_s for each in needs),
        measured_s=min(each.measured_s for each in needs),
        is_stopped=any(each.is_stopped for each in needs),
    )


def shortfall(points: _Points, runs: Sequence[Run]) -> str | None:
    """Return a sentence on the points whose runs are too short, and the settings to use; None if all runs are
    long enough.

    Args:
        points: The point of every run.
        runs: Runs of any number of seeds per point.
    """
    places = _places(points, runs)
    return _shortfall(_short(places, runs), places, points, runs, ())


def _shortfall(
    short: Mapping[int, Need],
    places: _Places,
    points: _Points,
    runs: Sequence[Run],
    warmups_s: Sequence[float],
) -> str | None:
    """Return the sentence of `shortfall`, given the needs of the points whose runs are too short. The
    settings include the warm-ups `warmups_s`."""
    if not short:
        return None
    worst = max(short, key=lambda number: short[number].missing_s + short[number].early_s)
    distinct = [points[of[0]] for of in places]
    where = _where(distinct, short, runs)
    verb = "is" if len(short) == 1 else "are"
    some = f"{len(short)} of {len(places)} points {verb}" if len(places) > 1 else "the run is"
    at = f", where {where}" if where else ""
    firsts = [runs[places[number][0]] for number in short]
    advice = _advice(firsts, list(short.values()), runs[places[worst][0]], short[worst], warmups_s)
    return f"{some} too short for means{at}: {short[worst]}; {advice}"


def _short(places: _Places, runs: Sequence[Run]) -> dict[int, Need]:
    """Return the largest `Need` of every point, by number, at which most of the examined runs are short."""
    found: dict[int, Need] = {}
    for number, at in enumerate(places):
        of = [runs[place] for place in at[:_SEEDS]]
        is_shared = len(bulk_names(of[0])) > 1 and waits_for_others(of[0])  # a single flow never waits
        known = [each for run in of if (each := need(run, is_shared=is_shared)) and each.is_short]
        if len(known) > len(of) / 2:
            found[number] = max(known, key=lambda each: each.missing_s + each.early_s)
    return found


def _places(points: _Points, runs: Sequence[Run]) -> list[list[int]]:
    """Return the indices of the runs of every point and engine."""
    places: dict[str, list[int]] = {}
    for place, (point, run) in enumerate(zip(points, runs, strict=True)):
        places.setdefault(f"{point} {run.engine.name}", []).append(place)
    return [*places.values()]


@dataclass(frozen=True)
class _Drift:
    """The means of bulk flows that have not settled, such as "RTT of old"."""

    examined: _Places
    """Indices of the examined runs of every point."""
    points: int
    """Number of points with enough seeds."""
    found: Mapping[str, Mapping[int, Sequence[Course]]]
    """Courses of every mean, by the number of the point."""
    bad: Mapping[str, Mapping[int, Sequence[Course]]]
    """Courses of the means that have not settled; the largest change comes first."""
    groups: Mapping[tuple[str, int], Collection[Mean]]
    """Means by their name in `found` and the number of the point."""

    @property
    def warmups_s(self) -> list[float]:
        """Known warm-ups with which means have settled, s."""
        return [
            each.warmup_s for of in self.bad.values() for at in of.values() for each in at if each.warmup_s
        ]


def _drift(places: _Places, runs: Sequence[Run]) -> _Drift:
    from fullpipe.analysis.regions import random_points
    from fullpipe.analysis.statistics.stationarity import moving  # imported here, as the imports are slow

    tested = [of for of in places if len(of) >= FEWEST_SEEDS]
    examined = random_points(tested, EXAMINED, FEWEST_SEEDS)
    courses = iter(_courses([runs[place] for of in examined for place in of]))
    found: dict[str, dict[int, list[Course]]] = {}
    groups: dict[tuple[str, int], dict[Mean, None]] = {}
    for number, of in enumerate(examined):
        for _, own in zip(of, courses, strict=False):
            for name, (mean, course) in own.items():
                found.setdefault(name, {}).setdefault(number, []).append(course)
                groups.setdefault((name, number), {})[mean] = None
    means = sum(map(len, found.values()))
    bad = {name: moving(by_point, means, FEWEST_SEEDS) for name, by_point in found.items()}
    order = sorted(filter(bad.get, bad), key=lambda name: -abs(_change(bad[name])))
    return _Drift(examined, len(tested), found, {name: bad[name] for name in order}, groups)


def drifting(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> str | None:
    """Return a sentence on the means of bulk flows that have not settled; None if all means have settled.

    A mean has not settled if `statistics.steadiness` finds start-up or drift in most of the examined runs of
    a point, and if the mean change from the first to the second half of the measured time exceeds 2 % and
    differs from 0 over the seeds (`statistics.stationarity.moving`). Slow oscillations change the mean in
    different directions with different seeds; the intervals over seeds include this variation.

    Args:
        points: The point of every run.
        runs: Runs. Points with fewer than three seeds are left out. At most 400 runs are examined, the same
            number of each point. If 400 runs are too few for all points, a random selection of the points is
            examined.
    """
    return _told(_drift(_places(points, runs), runs), points, runs)


def _told(found: _Drift, points: _Points, runs: Sequence[Run], *, has_advice: bool = True) -> str | None:
    """Return the sentence of `drifting`, which ends with settings to use if `has_advice`."""
    if not found.bad:
        return None
    (first, at_points), *others = found.bad.items()
    distinct = [points[of[0]] for of in found.examined]
    some = "" if len(found.examined) == found.points else "examined "
    counts = {name: _count(found.bad[name], found.found[name], some) for name in found.bad}
    where = _where(distinct, at_points, runs)
    at = f", where {where}" if 0 < len(where) <= _LONGEST_WHERE else ""
    told = f"{first} has not settled {counts[first]}{at}: its second half is {_growth(at_points)} its first"
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    also = f"{', '.join(f'{name} ({counts[name]})' for name, _ in others[:_MOST_NAMED])}{more}"
    told += f"; also {also}" if also else ""
    if not has_advice or runs[0].meta.engine.is_of_a_file:
        return f"{told}; measure longer" if has_advice else told
    scenario = runs[0].scenario
    if not found.warmups_s:
        return f"{told}; set a longer warmup, and a duration longer than {scenario.duration_s:g} s"
    warmup_s = max(_rounded(max(found.warmups_s)), scenario.warmup_s)
    return f"{told}; {_settings(scenario.duration_s + warmup_s - scenario.warmup_s, warmup_s)}"


def _where(points: Sequence[Mapping[str, Any]], chosen: Collection[int], runs: Sequence[Run]) -> str:
    """Describe the chosen points of a sweep; empty for a single point."""
    if len(points) < 2:
        return ""
    from fullpipe.analysis.regions import region_of_runs  # imported here, as single runs need no tables

    return region_of_runs(points, chosen, runs)


def _settings(until_s: float, warmup_s: float) -> str:
    return f'set duration = "{_rounded(until_s):g} s" and warmup = "{warmup_s:g} s", or longer'


def _count(bad: Mapping[int, Sequence[Course]], found: Mapping[int, Sequence[Course]], some: str) -> str:
    """Return the number of points at which a mean has not settled; for a single point, the number of runs."""
    if len(found) > 1:
        return f"at {len(bad)} of {len(found)} {some}points"
    (courses,) = bad.values()
    return f"in {sum(each.is_open for each in courses)} of {len(courses)} runs"


def _courses(runs: Sequence[Run]) -> list[dict[str, tuple[Mean, Course]]]:
    """Return the means and courses of the bulk flows of every entry of `flows`, for every run, by name.

    Courses are stored in the store of the runs, like metrics.
    """
    from fullpipe.analysis.statistics.stationarity import Course, Mean  # imported here: slow imports
    from fullpipe.analysis.values import RUN, Question, answers
    from fullpipe.scenario.labels import Labels

    labels: dict[str, Labels] = {}
    for run in runs:  # `meta` of every run would open every run
        if run.place not in labels:
            labels[run.place] = Labels(scenarios=[run.meta.scenario])
    found: list[dict[Mean, dict[str, float]]] = [{} for _ in runs]
    table = answers(runs, Question(subject="courses"), _measured)
    for place, quantity, group, part, value in table[RUN, "kind", "of", "metric", "value"].iter_rows():
        found[place].setdefault(Mean(quantity, group), {})[part] = value

    return [
        {
            name: (mean, Course(of["change"], bool(of["is_open"]), of["warmup_s"]))
            for (mean, of), name in zip(of_run.items(), _names(of_run, labels[run.place]), strict=True)
        }
        for run, of_run in zip(runs, found, strict=True)
    ]


def _names(means: Collection[Mean], labels: Labels) -> Iterator[str]:
    """Yield the name of every mean: its quantity and the label of its group, or the group's name if groups
    share the label."""
    words = [(mean.quantity, labels.group(mean.group)) for mean in means]
    for mean, (quantity, label) in zip(means, words, strict=True):
        yield f"{quantity} of {label if words.count((quantity, label)) == 1 else mean.group}"


def _measured(run: Run) -> Labelled:
    """Return the fields of all courses of a run as labelled numbers."""
    from fullpipe.analysis.statistics import stationarity  # imported here, as the import is slow

    times = ((row["flow"], row["start_s"], row["end_s"]) for row in run.rows("flows"))
    known_s = {flow: (start_s, end_s) for flow, start_s, end_s in times if None not in (start_s, end_s)}
    times_s = {flow: known_s[flow] for flow in bulk_names(run) if flow in known_s}
    groups = {group: [flow for flow in of if flow in times_s] for group, of in flow_groups(run).items()}
    own = {group: flows for group, flows in groups.items() if flows}
    found = stationarity.courses(run.series, times_s, own, run.scenario.warmup_s)
    return [
        ((quantity, group, part, "", None), float(value))
        for quantity, group, course in found
        for part, value in course._asdict().items()
    ]


def _growth(by_point: Mapping[int, Sequence[Course]]) -> str:
    """The difference between the halves as a share of the first half, in words: its range over points."""
    changes = (sum(each.change for each in of) / len(of) for of in by_point.values())
    # the mean of the first half is 1 - change / 2 of the whole mean
    shown = sorted({round(100 * change / max(1 - change / 2, _LEAST_HALF)) for change in changes})
    ends = [shown[0], shown[-1]] if len(shown) > 1 else shown
    if ends[0] < 0 < ends[-1]:
        return f"{-ends[0]} % below to {ends[-1]} % above"
    sizes = " to ".join(f"{size}" for size in sorted(map(abs, ends)))
    return f"{sizes} % {'above' if ends[-1] > 0 else 'below'}"


def _change(by_point: Mapping[int, Sequence[Course]]) -> float:
    changes = [each.change for of in by_point.values() for each in of]
    return sum(changes) / len(changes)


@dataclass(frozen=True)
class Doubts:
    """Reasons to doubt means of runs."""

    reasons: Mapping[str, Sequence[str]]
    """Sentences of `reservations` by name of the scenario."""
    means: Mapping[tuple[str, str], Collection[Mean]]
    """Means that the sentences are about, by digest of the scenario and name of the engine."""

    @property
    def warnings(self) -> list[str]:
        """The sentences as warnings, which follow a conclusion. Scenarios with different names get separate
        warnings."""
        of_whom = {name: f" of {name}" if len(self.reasons) > 1 else "" for name in self.reasons}
        return [f"Warning{of_whom[name]}: {told}." for name, of in self.reasons.items() for told in of]


def doubts_of(runs: Sequence[Run]) -> Doubts:
    """Return the reasons to doubt the means of runs of any scenarios."""
    from fullpipe.analysis.points import points_of  # imported here, as `shortfall` is given points

    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    reasons: dict[str, list[str]] = {}
    means: dict[tuple[str, str], dict[Mean, None]] = {}
    for name, of in by_name.items():
        reasons[name], found = doubts_at(points_of(of), of)
        for place, at in found.items():
            means.setdefault((of[place].meta.digest, of[place].engine.name), {}).update(dict.fromkeys(at))
    return Doubts(reasons, means)


def warnings_of(runs: Sequence[Run]) -> list[str]:
    """Return the warnings of `doubts_of`."""
    return doubts_of(runs).warnings


def reservations(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> list[str]:
    """Return the sentences of `shortfall` and `drifting`; an empty list if means can be trusted.

    Only one of the two sentences recommends settings, which are enough for both.
    """
    return doubts_at(points, runs)[0]


def doubts_at(points: _Points, runs: Sequence[Run]) -> tuple[list[str], dict[int, list[Mean]]]:
    """Return the sentences of `reservations`, and their means by index of the first run of the point."""
    if not runs:
        return [], {}
    from fullpipe.analysis.statistics.stationarity import EVERY_MEAN  # imported here, as the imports are slow

    places = _places(points, runs)
    drift, too_short = _drift(places, runs), _short(places, runs)
    short = _shortfall(too_short, places, points, runs, drift.warmups_s)
    told = filter(None, (short, _told(drift, points, runs, has_advice=not short)))
    means: dict[int, list[Mean]] = {places[number][0]: [EVERY_MEAN] for number in too_short}
    for name, at in drift.bad.items():
        for number in at:
            means.setdefault(drift.examined[number][0], []).extend(drift.groups[name, number])
    return list(told), means


def _advice(
    runs: Sequence[Run], needs: Sequence[Need], worst: Run, worst_need: Need, warmups_s: Sequence[float]
) -> str:
    """Return the settings with which the means of all points can be trusted.

    `runs` and `needs` have one item per point, `worst` and `worst_need` are those of the point with the
    largest need, and `warmups_s` has warm-ups that the settings have to include, s.
    """
    later_s = _rounded(
        max(each.missing_to_stop_s for each in needs if each.is_stopped == worst_need.is_stopped)
    )
    if worst.meta.engine.is_of_a_file:
        return f"measure {later_s:g} s longer"
    if worst_need.is_stopped:
        until_s = max(_stops_s(worst.scenario).values()) + later_s
        longer = f' and set duration = "{until_s:g} s"' if until_s > worst.scenario.duration_s else ""
        return f"let flows with a `stop` stop {later_s:g} s later{longer}"
    lasting = [(run.scenario, of) for run, of in zip(runs, needs, strict=True) if not of.is_stopped]
    warmup_s = max(map(_rounded, (*warmups_s, *(of.settled_s for _, of in lasting))))
    until_s = max(
        max(scenario.duration_s, warmup_s + of.measured_s) + of.missing_s for scenario, of in lasting
    )
    return _settings(until_s, warmup_s)


def _competing(run: Run) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of the bulk flows, one list per direction."""
    rows = {
        row["flow"]: {name: row[name] for name in _COLUMNS} | {_LATE_RTT: row[_LATE_RTT] or row["rtt_mean_s"]}
        for row in run.rows("flows")
    }
    bulk = (flow for flow in bulk_names(run) if flow in rows)
    known = {flow: rows[flow] for flow in bulk if None not in rows[flow].values()}
    ways = flow_directions(run).values() or [list(known)]
    yield from ([known[flow] for flow in way if flow in known] for way in ways)


def _needs(run: Run, way: Sequence[Mapping[str, Any]], is_shared: bool) -> Iterator[Need]:
    warmup_s, mss = run.scenario.warmup_s, _mss(run) if way else {}
    stopped = _stops_s(run.scenario)
    starts_s, ends_s = (sorted(row[key] for row in way) for key in ("start_s", "end_s"))
    for row in way:
        begin_s = max(row["start_s"], warmup_s)
        rtt_s = row["rtt_mean_s"]
        window = max(row["goodput_bps"] * rtt_s / (8 * mss[row["flow"]]), 1.0)
        # number of flows, this one included, that are active at the same time as this flow
        present = bisect_left(starts_s, row["end_s"]) - bisect_right(ends_s, row["start_s"])
        once_s = cycle_s(row["cca"], window, rtt_s, is_shared=is_shared) if present > 1 else 0.0
        measured_s = row["end_s"] - begin_s
        early_s = max(row["start_s"] + start_up_s(window, rtt_s) - begin_s, 0.0)
        is_left_out = begin_s == warmup_s or early_s > START_UP * measured_s
        late_rtt_s, growth = row[_LATE_RTT], measured_s / max(measured_s - early_s, measured_s / _MOST_GROWTH)
        later = window * growth * late_rtt_s / rtt_s
        settled_s = max(row["start_s"] + start_up_s(later, late_rtt_s), warmup_s) if is_left_out else warmup_s
        later_s = cycle_s(row["cca"], window * growth, rtt_s, is_shared=is_shared) if present > 1 else 0.0
        yield Need(row["cca"], once_s, later_s, early_s, settled_s, measured_s, row["flow"] in stopped)


def _stops_s(scenario: Scenario) -> dict[str, float]:
    """Return `stop` by flow, s, for flows whose `stop` is within the run."""
    entries = zip(scenario.flows, flow_names(scenario.flows), strict=True)
    return {
        name: flow.stop_s
        for flow, names in entries
        if flow.stop_s is not None and flow.stop_s <= scenario.duration_s
        for name in names
    }


def _mss(run: Run) -> dict[str, int]:
    flows = run.scenario.flows
    sizes = [run.scenario.tcp_of(flow).mss_bytes for flow in flows]
    return {name: mss for names, mss in zip(flow_names(flows), sizes, strict=True) for name in names}


def _seconds(time_s: float) -> str:
    return f"{time_s:.2g} s" if time_s < 10 else f"{time_s:.0f} s"


def _rounded(time_s: float) -> float:
    """Round a time up to a number with few digits."""
    step = next((step for step, most in ((0.1, 1), (1, 20), (5, 100)) if time_s < most), 10)
    return round(ceil(time_s / step - 1e-9) * step, 1)
