"""Reasons to doubt means: runs too short for the algorithms to adapt, and means that have not settled."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import cbrt, ceil, inf, log2, sqrt
from random import Random
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.metrics.groups import bulk_names, flow_directions, flow_groups
from fullpipe.scenario import resolve
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.model.link.queues import Discipline

if TYPE_CHECKING:
    from fullpipe.analysis.statistics.stationarity import Course
    from fullpipe.analysis.values import Labelled
    from fullpipe.runs import Run
    from fullpipe.scenario import Scenario

CYCLES = 3
"""Minimum number of adaptation cycles of the slowest flow that a mean must cover, if flows compete."""
START_UP = 0.05
"""Largest share of the measured time that may be start-up."""
_SEEDS = 3
"""Seeds that are examined per point."""
EXAMINED = 400
"""Maximum number of runs whose samples are examined."""
_FEWEST_SEEDS = 3
"""Minimum number of seeds of a point at which drift can be told from chance."""
_LEVEL = 0.05
"""Maximum probability that a sentence names a mean that has settled."""
MATTERS = 0.02
"""Smallest change of a mean from the first to the second half of the measured time that matters, as a share
of the mean."""
_MOST_NAMED = 2
_LONGEST_WHERE = 160
"""Maximum length of the words for points, in characters."""
_COLUMNS = ("flow", "cca", "start_s", "end_s", "goodput_bps", "rtt_mean_s")
_INITIAL_WINDOW = 10
_BETA, _C = 0.7, 0.4
_BBR1_ROUNDS, _BBR3_ROUNDS, _BBR3_WAIT_S = 8, 62, 3.0
_PROBE_RTT_S = {
    **dict.fromkeys(("bbr1", "bbq", "da_bbr", "ad_bbr"), 10.0),
    **dict.fromkeys(("bbr2", "bbr3", "bbr_n_plus"), 5.0),
}
"""Time between two PROBE_RTT phases of each version of BBR, s."""
_FAIR = ("fq", "fq_codel", "fq_pie", "cake")
"""Fair queues: packets of one flow do not wait for packets of other flows."""


@dataclass(frozen=True)
class Need:
    """The adaptation time of the bulk flows of a run, and the time for which they were measured."""

    cca: str
    """Algorithm of the flow that adapts slowest."""
    cycle_s: float
    """Adaptation cycle of that flow; 0 if no flow competes with another."""
    early_s: float
    """Longest time for which the start-up of a flow continues after the warm-up."""
    settled_s: float
    """Time at which all start-up is over. Flows that start after the warm-up count only if their start-up
    exceeds `START_UP` of their measured time."""
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
        return max(CYCLES * self.cycle_s - self.measured_s, 0.0)

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


def cycle_s(cca: str, window: float, rtt_s: float, *, is_shared: bool) -> float:
    """Length of an algorithm's adaptation cycle, s.

    CUBIC: from one loss to the next, K = ((W - beta W) / C)^(1/3), or (W - beta W) / alpha round trips as in
    the Reno-friendly region, whichever is sooner; alpha = 3 (1 - beta) / (1 + beta).
    Source: RFC 9438, sections 4.2 and 4.3.

    BBR: if flows share a queue, from one PROBE_RTT to the next, because BBR's estimate of the smallest RTT
    includes the queueing delay of other flows. Otherwise a cycle of PROBE_BW. BBRv1 has PROBE_RTT every 10 s,
    and cycles of 8 round trips. BBRv2 and BBRv3 have PROBE_RTT every 5 s, and cycles of 3 s or min(W, 62)
    round trips, whichever is sooner.
    Source: draft-cardwell-iccrg-bbr-congestion-control-00, draft-ietf-ccwg-bbr-02, section 5.3.3.

    Other algorithms: W / 2 round trips, as for a window that halves and grows by a packet per round trip.
    Source: RFC 5681, section 3.1.

    Args:
        cca: The algorithm.
        window: W, packets.
        rtt_s: Mean RTT, queueing delay included, s.
        is_shared: Whether flows wait for each other in one queue.

    >>> round(cycle_s("cubic", 1000, 0.1, is_shared=True), 1), cycle_s("reno", 1000, 0.1, is_shared=True)
    (9.1, 50.0)
    """
    if cca in _PROBE_RTT_S:
        if is_shared:
            return _PROBE_RTT_S[cca]
        if _PROBE_RTT_S[cca] == _PROBE_RTT_S["bbr1"]:
            return _BBR1_ROUNDS * rtt_s
        return min(_BBR3_WAIT_S, min(window, _BBR3_ROUNDS) * rtt_s)
    if cca == "cubic":
        alpha = 3 * (1 - _BETA) / (1 + _BETA)
        lost = (1 - _BETA) * window
        return min(cbrt(lost / _C), lost / alpha * rtt_s)
    return window / 2 * rtt_s


def start_up_s(window: float, rtt_s: float) -> float:
    """Time in which slow start reaches a window, s: the window doubles every round trip from 10 packets on.

    Source: RFC 5681, section 3.1, and RFC 6928.
    """
    return rtt_s * log2(max(window / _INITIAL_WINDOW, 2))


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
        early_s=max(each.early_s for each in needs),
        settled_s=max(each.settled_s for each in needs),
        measured_s=min(each.measured_s for each in needs),
        is_stopped=any(each.is_stopped for each in needs),
    )


def shortfall(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> str | None:
    """Return a sentence on the points whose runs are too short, and the settings to use; None if all runs are
    long enough.

    Args:
        points: The point of every run.
        runs: Runs of any number of seeds per point.
    """
    places = _places(points, runs)
    firsts = [of[0] for of in places.values()]
    needs = [list(_needs_of([runs[place] for place in of[:_SEEDS]])) for of in places.values()]
    short = {
        number: max(known, key=lambda each: each.missing_s + each.early_s)
        for number, of in enumerate(needs)
        if len(known := [each for each in of if each and each.is_short]) > len(of) / 2
    }
    if not short:
        return None
    worst = max(short, key=lambda number: short[number].missing_s + short[number].early_s)
    distinct = [points[place] for place in firsts]
    where = _where(distinct, short, runs) if len(distinct) > 1 else ""
    verb = "is" if len(short) == 1 else "are"
    some = f"{len(short)} of {len(places)} points {verb}" if len(places) > 1 else "the run is"
    at = f", where {where}" if where else ""
    return f"{some} too short for means{at}: {short[worst]}; {_advice(runs[firsts[worst]], short[worst])}"


def _key(point: Mapping[str, Any], run: Run) -> str:
    """Return the key of the point and engine of a run."""
    return f"{point} {run.engine.name}"


def _places(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> dict[str, list[int]]:
    """Return the indices of the runs of every point and engine."""
    places: dict[str, list[int]] = {}
    for place, (point, run) in enumerate(zip(points, runs, strict=True)):
        places.setdefault(_key(point, run), []).append(place)
    return places


def drifting(
    points: Sequence[Mapping[str, Any]], runs: Sequence[Run], *, has_advice: bool = True
) -> str | None:
    """Return a sentence on the means of bulk flows that have not settled; None if all means have settled.

    A mean has not settled if `statistics.steadiness` finds start-up or drift in most of the examined runs of
    a point, and if the mean change from the first to the second half of the measured time exceeds 2 % and
    differs from 0 over the seeds (t test, with Bonferroni's correction for all examined means). Slow
    oscillations change the mean in different directions with different seeds; the intervals over seeds
    include this variation.

    Args:
        points: The point of every run.
        runs: Runs. Points with fewer than three seeds are left out. At most 400 runs are examined, of each
            point equally many; if these are too few, of a random selection of the points.
        has_advice: Whether the sentence ends with settings to use.
    """
    places = [of for of in _places(points, runs).values() if len(of) >= _FEWEST_SEEDS]
    examined = _examined(places)
    courses = iter(_courses([runs[place] for of in examined for place in of]))
    found: dict[str, dict[int, list[Course]]] = {}
    for number, of in enumerate(examined):
        for _, own in zip(of, courses, strict=False):
            for name, course in own.items():
                found.setdefault(name, {}).setdefault(number, []).append(course)
    means = sum(map(len, found.values()))
    bad = {
        name: {number: own for number, own in by_point.items() if _is_drifting(own, means)}
        for name, by_point in found.items()
    }
    order = sorted(filter(bad.get, bad), key=lambda name: -abs(_change(bad[name])))
    if not order:
        return None
    first, *others = order
    distinct = [points[of[0]] for of in examined]
    some = "" if len(examined) == len(places) else "examined "
    counts = {name: _count(bad[name], found[name], some) for name in order}
    where = _where(distinct, bad[first], runs) if len(distinct) > 1 else ""
    where = where if len(where) <= _LONGEST_WHERE else ""
    change = _change(bad[first])
    told = f"{first} has not settled {counts[first]}{f', where {where}' if where else ''}"
    told += f": its second half is {100 * abs(change):.0f} % {'above' if change > 0 else 'below'} its first"
    also = ", ".join(f"{name} ({counts[name]})" for name in others[:_MOST_NAMED])
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    told += f"; also {also}{more}" if also else ""
    if not has_advice:
        return told
    if runs[0].meta.engine.is_of_a_file:
        return f"{told}; measure longer"
    known = [each.warmup_s for of in bad.values() for at in of.values() for each in at if each.warmup_s]
    duration_s = runs[0].scenario.duration_s
    warmup = f'set warmup = "{_rounded(max(known)):g} s" or more' if known else "set a longer warmup"
    return f"{told}; {warmup}, and a duration longer than {duration_s:g} s"


def _count(bad: Mapping[int, Sequence[Course]], found: Mapping[int, Sequence[Course]], some: str) -> str:
    """Return the number of points at which a mean has not settled; for a single point, the number of runs."""
    if len(found) > 1:
        return f"at {len(bad)} of {len(found)} {some}points"
    (courses,) = bad.values()
    return f"in {sum(each.is_open for each in courses)} of {len(courses)} runs"


def _examined(places: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Return the indices of the runs to examine, by point: equally many seeds of every point.

    The points are a random selection if there are too many: every n-th point could have one value of an axis.
    """
    if not places:
        return []
    most = EXAMINED // _FEWEST_SEEDS
    few = (
        places
        if len(places) <= most
        else [places[n] for n in sorted(Random(0).sample(range(len(places)), most))]
    )
    seeds = min(max(EXAMINED // len(few), _FEWEST_SEEDS), *map(len, few)) if len(few) > 1 else EXAMINED
    return [of[:seeds] for of in few]


def _courses(runs: Sequence[Run]) -> list[dict[str, Course]]:
    """Return the courses of the bulk flows of every entry, for every run, by quantity and label of the group.

    The courses are stored beside the runs, as values are.
    """
    from fullpipe.analysis.statistics.stationarity import Course  # imported here, as the imports are slow
    from fullpipe.analysis.values import RUN, Question, answers
    from fullpipe.scenario.labels import Labels

    labels: dict[str, Labels] = {}
    for run in runs:  # `meta` of every run would open every run
        if run.place not in labels:
            labels[run.place] = Labels(scenarios=[run.meta.scenario])
    found: list[dict[str, dict[str, float]]] = [{} for _ in runs]
    table = answers(runs, Question(subject="courses"), _measured)
    for place, quantity, group, part, value in table[RUN, "kind", "of", "metric", "value"].iter_rows():
        name = f"{quantity} of {labels[runs[place].place].group(group)}"
        found[place].setdefault(name, {})[part] = value
    return [
        {name: Course(of["change"], bool(of["is_open"]), of["warmup_s"]) for name, of in of_run.items()}
        for of_run in found
    ]


def _measured(run: Run) -> Labelled:
    """Return the numbers of all courses of a run."""
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


def _is_drifting(of: Sequence[Course], means: int) -> bool:
    """Whether most runs of a point have drift or start-up, and their change differs from 0.

    `means`: number of means that are tested.
    """
    from scipy.special import stdtrit  # imported here, as the import is slow

    changes = [each.change for each in of]
    if len(changes) < _FEWEST_SEEDS or sum(each.is_open for each in of) <= len(of) / 2:
        return False
    middle = sum(changes) / len(of)
    error = sqrt(sum((each - middle) ** 2 for each in changes) / (len(of) - 1) / len(of))
    return abs(middle) > max(MATTERS, float(stdtrit(len(of) - 1, 1 - _LEVEL / 2 / means)) * error)


def _change(by_point: Mapping[int, Sequence[Course]]) -> float:
    changes = [each.change for of in by_point.values() for each in of]
    return sum(changes) / len(changes)


def reservations(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> list[str]:
    """Return the sentences of `shortfall` and `drifting`; an empty list if means can be trusted."""
    if not runs:
        return []
    # Only one of the two sentences recommends settings: two recommendations could contradict each other.
    short = shortfall(points, runs)
    return list(filter(None, (short, drifting(points, runs, has_advice=not short))))


def warnings_of(runs: Sequence[Run]) -> list[str]:
    """The sentences of `reservations` as warnings below a conclusion. Runs of scenarios with different names
    get separate warnings."""
    from fullpipe.analysis.points import points_of  # imported here, as `shortfall` is given points

    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    of_whom = {name: f" of {name}" if len(by_name) > 1 else "" for name in by_name}
    return [
        f"Warning{of_whom[name]}: {sentence}."
        for name, of in by_name.items()
        for sentence in reservations(points_of(of), of)
    ]


def _advice(run: Run, of: Need) -> str:
    """Return the settings with which means can be trusted."""
    if run.meta.engine.is_of_a_file:
        return f"measure {_rounded(of.missing_to_stop_s):g} s longer"
    if of.is_stopped:
        later_s = _rounded(of.missing_to_stop_s)
        until_s = max(_stops_s(run.scenario).values()) + later_s
        longer = f' and set duration = "{until_s:g} s"' if until_s > run.scenario.duration_s else ""
        return f"let flows with a `stop` stop {later_s:g} s later{longer}"
    warmup_s = _rounded(of.settled_s)
    until_s = max(run.scenario.duration_s + of.missing_s, warmup_s + of.measured_s + of.missing_s)
    return f'set duration = "{_rounded(until_s):g} s" and warmup = "{warmup_s:g} s", or longer'


def _where(points: Sequence[Mapping[str, Any]], chosen: Collection[int], runs: Sequence[Run]) -> str:
    """Describe the chosen points with the labels of the runs' scenarios."""
    from fullpipe.analysis.points import varying  # imported here, as a single run needs no points
    from fullpipe.analysis.regions import region
    from fullpipe.scenario.labels import Labels

    firsts: dict[str, Run] = {}
    for run in runs:  # `meta` of every run would open every run
        firsts.setdefault(run.place, run)
    labels = Labels(scenarios={run.meta.digest: run.meta.scenario for run in firsts.values()}.values())
    return region(points, chosen, labels.names(varying(points)), labels.value)


def _needs_of(runs: Sequence[Run]) -> Iterator[Need | None]:
    """Yield the `Need` of every run; all runs are of one point."""
    is_shared = len(bulk_names(runs[0])) > 1 and waits_for_others(runs[0])  # a single flow never waits
    yield from (need(run, is_shared=is_shared) for run in runs)


def _competing(run: Run) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of the bulk flows, one list per direction."""
    rows = {row["flow"]: {name: row[name] for name in _COLUMNS} for row in run.rows("flows")}
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
        settled_s, measured_s = row["start_s"] + start_up_s(window, rtt_s), row["end_s"] - begin_s
        early_s = max(settled_s - begin_s, 0.0)
        is_left_out = begin_s == warmup_s or early_s > START_UP * measured_s
        settled_s = max(settled_s, warmup_s) if is_left_out else warmup_s
        yield Need(row["cca"], once_s, early_s, settled_s, measured_s, row["flow"] in stopped)


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


def waits_for_others(run: Run) -> bool:
    """Whether the queue with the longest mean sojourn time is shared, that is, no fair queue."""
    waits = {row["link"]: row["sojourn_mean_s"] for row in run.rows("links_summary")}
    longest = max(resolve(run.scenario).hops, key=lambda hop: waits.get(hop.name) or 0.0)
    return not isinstance(longest.queue, Discipline) or longest.queue.kind not in _FAIR


def _seconds(time_s: float) -> str:
    return f"{time_s:.2g} s" if time_s < 10 else f"{time_s:.0f} s"


def _rounded(time_s: float) -> float:
    """Round a time up to a number with few digits."""
    step = next((step for step, most in ((0.1, 1), (1, 20), (5, 100)) if time_s < most), 10)
    return round(ceil(time_s / step - 1e-9) * step, 1)
