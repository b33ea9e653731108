"""Analysis of our runs beside the printed one: each run, not each sample, is one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from fullpipe.analysis.statistics import games_howell, welch_anova
from fullpipe.analysis.statistics.slow_imports import rank_correlation
from fullpipe.studies.ahsan2025 import rerun, rerun_wireless
from fullpipe.studies.ahsan2025.printed import results
from fullpipe.studies.ahsan2025.rerun_claims import MEASURED
from fullpipe.studies.ahsan2025.rerun_wired import DIRECT, ENDED, SERVERS_ALIKE
from fullpipe.studies.experiments import Measurements, Value
from fullpipe.studies.quantities import interval_of
from fullpipe.studies.text import Aligned

LEVEL = 0.05
NOTHING = "-"
Where = Mapping[str, Value]


def sections(found: Measurements) -> list[str | Aligned]:
    """Return tests with runs as replicates, and the experiments for which the paper has no numbers."""
    made = [_tests(found), _pairs(found), _classes(found), _marks(found), _wireless(found), _downloads(found)]
    return [part for parts in made for part in parts]


def _tests(found: Measurements) -> list[str | Aligned]:
    head = ["", "path", "printed F", "Welch's F", "P", "pairs apart", "order as printed"]
    rows = [row for table in results().tables for row in _tests_of(found, table.id, table.anova["F"])]
    told = (
        "The printed analysis takes some 300 samples of one run as independent. Here a run is one value: "
        "Welch's test that all nine means are equal, pairs of 36 that differ in Games and Howell's test at "
        f"{LEVEL:g}, and Spearman's rank correlation of our means with the printed ones."
    )
    return [told, Aligned([head, *rows], right=(2, 3, 5))] if rows else []


def _tests_of(found: Measurements, table: str, printed: str) -> Iterator[list[str]]:
    experiment, quantity = MEASURED[table]
    theirs = next(one for one in results().tables if one.id == table).groups
    for path in found.choices(experiment, rerun.KEY):
        ours = {
            name: found.at(experiment, quantity, name, {rerun.KEY: path})
            for name in theirs
            if len(found.at(experiment, quantity, name, {rerun.KEY: path})) > 1
        }
        if len(ours) == len(theirs):
            means = [float(row["average"]) for row in theirs.values()]
            order = rank_correlation(means, [sum(ours[name]) / len(ours[name]) for name in theirs])
            yield [table, str(path), f"{float(printed):.1f}", *_tested(list(ours.values())), f"{order:+.2f}"]


def _tested(groups: Sequence[Sequence[float]]) -> list[str]:
    """Return Welch's F, its P, and the number of pairs that differ; dashes if a group does not vary."""
    try:
        test, pairs = welch_anova(groups), games_howell(groups)
    except ValueError:
        return [NOTHING] * 3
    return [f"{test.f:.3g}", f"{test.p:.2g}", f"{sum(pair.p < LEVEL for pair in pairs)}"]


def _pairs(found: Measurements) -> list[str | Aligned]:
    paths = found.choices(rerun.PAIRS, rerun.KEY)
    rows = [
        [
            pair,
            *(_shown(found, rerun.PAIRS, "share", "both", {"pair": pair, rerun.KEY: path}) for path in paths),
        ]
        for pair in rerun.BOTH
    ]
    return _table(
        "Two uploads: the share of the first. Announced in section 3, never shown:", ["", *paths], rows
    )


def _classes(found: Measurements) -> list[str | Aligned]:
    quantities = (
        "upload_BE",
        "upload_BK",
        "upload_CS5",
        "upload_EF",
        "udp_EF",
        "udp_BE",
        "download",
        "median",
    )
    rows = [
        [
            name,
            str(queue),
            *(_shown(found, rerun.CLASSES, q, name, {"bottleneck": queue}) for q in quantities),
        ]
        for name, queue in product(rerun.ALGORITHMS, rerun.BOTTLENECKS)
    ]
    told = (
        "RRUL with classes: uploads of each in Mbit/s, UDP probes and pings (median) in ms, downloads in all:"
    )
    return _table(told, ["", "uplink and downlink", *quantities], rows)


def _marks(found: Measurements) -> list[str | Aligned]:
    quantities = ("upload", "median", "marked", "dropped")
    rows = [
        [name, str(way), *(_shown(found, rerun.MARKS, q, name, {"feedback": way}) for q in quantities)]
        for name, way in product(rerun.MARKED, rerun.FEEDBACK)
    ]
    told = (
        "Four uploads through DualPI2, with BBR-n+ as in the abstract, which no published run shows: "
        "Mbit/s, median ping in ms, packets marked and dropped in per cent:"
    )
    return _table(told, ["", "uplink", *quantities], rows)


def _wireless(found: Measurements) -> list[str | Aligned]:
    places = list(product(("upload", "median"), rerun_wireless.STREAMS))
    rows = [
        [name, *(_shown(found, rerun_wireless.NAME, q, name, {"streams": count}) for q, count in places)]
        for name in rerun.ALGORITHMS
    ]
    head = ["", *(f"{count} {'Mbit/s' if q == 'upload' else 'ms'}" for q, count in places)]
    return _table("Uploads of 1 to 16 streams over Wi-Fi, and the median ping:", head, rows)


def _downloads(found: Measurements) -> list[str | Aligned]:
    paths = (DIRECT, DIRECT + SERVERS_ALIKE, ENDED, ENDED + SERVERS_ALIKE)
    places = list(product((rerun.FAIR, rerun.BEST_EFFORT), paths))
    rows = [
        [name, *(_shown(found, test, "download", name, {rerun.KEY: path}) for test, path in places)]
        for name in rerun.ALGORITHMS
    ]
    told = (
        "Downloads in Mbit/s, for rtt_fair and then for rrul_be: by the servers' CUBIC, as measured, and by "
        "the algorithm under test:"
    )
    return _table(told, ["", *(path for _, path in places)], rows)


def _table(told: str, head: Sequence[object], rows: Sequence[Sequence[str]]) -> list[str | Aligned]:
    if all(cell == NOTHING for row in rows for cell in row[2:]):
        return []
    return [told, Aligned([list(map(str, head)), *rows], right=range(1, len(head)))]


def _shown(found: Measurements, experiment: str, quantity: str, name: str, where: Where) -> str:
    """Return a mean with its 95 % interval."""
    values = found.at(experiment, quantity, name, where)
    if not values:
        return NOTHING
    mean, interval = sum(values) / len(values), interval_of(quantity, values)
    return f"{mean:.3g}" + (f" [{interval.low:.3g}, {interval.high:.3g}]" if interval else "")
