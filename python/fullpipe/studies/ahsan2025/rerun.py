"""Our rerun of the paper's tests: experiments, claims about our runs, and tables for the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product
from typing import Any

from fullpipe.analysis.statistics import games_howell, welch_anova
from fullpipe.analysis.statistics.intervals import rank_correlation
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies.ahsan2025 import rerun_measures
from fullpipe.studies.ahsan2025.printed import SUMMARY, Table, results
from fullpipe.studies.ahsan2025.rerun_measures import DIRECT, ENDED, ENDED_FQ_CODEL, PATHS, SERVERS_ALIKE
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.claims import Claim, Reference
from fullpipe.studies.experiments import Experiment, Measurements, Value, Variants
from fullpipe.studies.settings import Setting
from fullpipe.studies.study import Algorithms, Plan, claims_in
from fullpipe.studies.text import Aligned, interval_of
from fullpipe.studies.verdicts import Cause, Expectation

# Experiments of the rerun, and the settings under which their claims are checked.


SEEDS = 10
QUICK_SEEDS = 2

ALGORITHMS: Mapping[str, Any] = {
    "BBRv3": "bbr3",
    "BBR-n+": "bbr_n_plus",
    "CUBIC": "cubic",
    "Reno": "reno",
    "YeAH": "yeah",
    "Veno": "veno",
    "Vegas": "vegas",
    "NV": "nv",
    "DCTCP": "dctcp",
}
KEY = "path"
READINGS = (*map(str, PATHS), DIRECT + SERVERS_ALIKE, ENDED + SERVERS_ALIKE)
"""Settings of the path under which claims are checked. The first setting is that of the paper, and only
verdicts under this setting are counted. In settings that begin with "ended", a host on the path splits every
connection into two, as the published data show."""
FAIR, BEST_EFFORT, UPLOADS = "rtt_fair", "rrul_be", "uploads"
CLASSES, PAIRS, MARKS = "rrul", "pairs", "marks"
STREAMS = (1, 2, 4, 8, 12, 16)
OF_BOTH_WAYS = tuple(path for path in PATHS if not str(path).endswith("1.2 s"))
OF_UPLOADS = (DIRECT, "direct, 1.2 s", "direct, fq_codel", ENDED, "ended, 1.2 s")
SHOWN = (1, 12, 16)
"""Numbers of streams about which the paper makes statements. Experiments with these numbers of streams are
run under all settings in `OF_UPLOADS`, experiments with other numbers only under the first setting."""
OF_PAIRS = (DIRECT, "direct, 100 packets", "direct, 500 ms", "direct, fq_codel")
BOTH = {"BBRv3/CUBIC": ("bbr3", "cubic"), "BBRv3/Reno": ("bbr3", "reno"), "CUBIC/Reno": ("cubic", "reno")}
"""Pairs of algorithms for which section 3 of the paper announces results."""
BOTTLENECKS: Mapping[Value, Mapping[str, Any]] = {
    "FIFO": {},
    "fq_codel": {"topology.links.1.queue": {"kind": "fq_codel"}},
    "CAKE, 95 Mbit/s": {"topology.links.1.queue": {"kind": "cake", "bandwidth_bps": 95_000_000}},
}
"""Queues of the uplink, used in both directions. Traffic classes can have an effect only at these queues."""
_DUALPI2 = {"topology.links.1.queue": {"kind": "dualpi2"}}
FEEDBACK: Mapping[Value, Mapping[str, Any]] = {
    "FIFO": {},
    "DualPI2": _DUALPI2,
    "DualPI2 and AccECN": {**_DUALPI2, "tcp.ecn": "accecn"},
}
MARKED = {
    "BBR-n+": {"kind": "bbr_n_plus", "l4s": True},
    "BBRv3": "bbr3",
    "Prague": "prague",
    "CUBIC": "cubic",
}
"""Algorithms of the experiment with ECN marks: BBR-n+ as described in the abstract of the paper, and three
other algorithms."""


def plan(*, quick: bool) -> Plan:
    """Return the plan: every experiment with its algorithms."""
    return list(_parts(rerun_measures.QUICK_LENGTH_S if quick else rerun_measures.LENGTH_S))


def _parts(length_s: float) -> Iterator[tuple[Experiment, Algorithms]]:
    for test in (FAIR, BEST_EFFORT):
        scenario = rerun_measures.scenario(test, length_s=length_s)
        up, down = rerun_measures.streams(scenario, "upload"), rerun_measures.streams(scenario, "download")
        chosen: Variants = {path: PATHS[path] for path in OF_BOTH_WAYS}
        alike: Variants = {path + SERVERS_ALIKE: PATHS[path] for path in (DIRECT, ENDED)}
        for paths, flows in ((chosen, up), (alike, (*up, *down))):
            yield Experiment(test, scenario, {}, rerun_measures.of_test, {KEY: paths}, flows), ALGORITHMS
    for count in STREAMS:
        yield _uploads(count, length_s), ALGORITHMS
    yield _classes(length_s), ALGORITHMS
    yield _pairs(length_s), {"both": None}
    yield _marks(length_s), MARKED
    yield rerun_measures.experiment(length_s=length_s), ALGORITHMS


def _upload_scenario(count: int, length_s: float) -> Scenario:
    """Return a scenario with `count` uploads and a ping."""
    scenario = rerun_measures.scenario("tcp_1up", length_s=length_s)
    return scenario.with_values({"flows.0.count": count})


def _uploads(count: int, length_s: float) -> Experiment:
    paths = OF_UPLOADS if count in SHOWN else OF_UPLOADS[:1]
    variants: dict[str, Variants] = {"streams": {count: {}}, KEY: {path: PATHS[path] for path in paths}}
    scenario = _upload_scenario(count, length_s)
    return Experiment(UPLOADS, scenario, {}, rerun_measures.of_test, variants, flows=(0,))


def _classes(length_s: float) -> Experiment:
    scenario = rerun_measures.scenario(CLASSES, length_s=length_s)
    flows = rerun_measures.streams(scenario, "upload")
    return Experiment(CLASSES, scenario, {}, rerun_measures.of_classes, {"bottleneck": BOTTLENECKS}, flows)


def _pairs(length_s: float) -> Experiment:
    scenario = rerun_measures.scenario("tcp_2up", length_s=length_s)
    pairs: Variants = {
        pair: {f"flows.{n}.cca": cca for n, cca in enumerate(ccas)} for pair, ccas in BOTH.items()
    }
    variants: dict[str, Variants] = {"pair": pairs, KEY: {path: PATHS[path] for path in OF_PAIRS}}
    return Experiment(PAIRS, scenario, {}, rerun_measures.of_pair, variants, flows=())


def _marks(length_s: float) -> Experiment:
    scenario = _upload_scenario(4, length_s)
    return Experiment(MARKS, scenario, {}, rerun_measures.of_marks, {"feedback": FEEDBACK}, flows=(0,))


def unread(run: Run | None) -> Run | None:
    """Return a run that reads its tables from disk whenever they are used, because the tables of all runs do
    not fit into memory."""
    return Run.load(run.folder).at(run.meta.point) if run and run.folder else run


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker that checks the claims about our runs under every setting of the path."""
    return ClaimChecker(found, READINGS, key=KEY, others=tuple(ALGORITHMS))


# Claims about our runs: the printed means and variances of Tables 2 to 7, and statements of the text.


FILE = "rerun.toml"
MEASURED = {
    "Table 2": (FAIR, "upload"),
    "Table 3": (FAIR, "download"),
    "Table 4": (FAIR, "ping"),
    "Table 5": (BEST_EFFORT, "upload"),
    "Table 6": (BEST_EFFORT, "download"),
    "Table 7": (BEST_EFFORT, "ping"),
}
"""Our experiment and quantity that correspond to each printed table."""
SWAPPED = ("Table 6", "Table 7")
PAIR = ("BBR-n+", "BBRv3")
"""Algorithms whose rows are exchanged in the tables in `SWAPPED`, according to the published data."""
REFERENCE = "CUBIC"
ENDED_BY_HOST = ("Table 2", "average")
"""Table and quantity whose printed values are reproduced in runs of 60 s if a host on the path splits every
connection into two. No other difference from a printed value has a known cause."""
ABOVE_A_FIFO = ("BBRv3", "BBR-n+", "CUBIC", "NV")
"""Algorithms whose printed averages are reproduced only with fq_codel at the uplink of the host that
splits connections. With a FIFO, the averages are 5 to 7 % lower."""


def claims(package: str) -> tuple[Claim, ...]:
    """Return all claims about our runs."""
    numbers = (claim for table in results().tables for claim in _of_table(table))
    return (*numbers, *claims_in(package, FILE))


def _of_table(table: Table) -> Iterator[Claim]:
    """Yield claims about the means and variances of a table. The table's counts, sums and test follow from
    its means and variances."""
    for name in table.groups:
        yield from _of_row(table, name, name, exchanged=False)
    if table.id in SWAPPED:
        for name, other in (PAIR, PAIR[::-1]):
            yield from _of_row(table, name, other, exchanged=True)


def _of_row(table: Table, algorithm: str, row: str, *, exchanged: bool) -> Iterator[Claim]:
    """Yield the claims about an algorithm with the printed numbers of the given row, which can be another
    algorithm's."""
    experiment, quantity = MEASURED[table.id]
    first = table.first_entry + len(SUMMARY) * list(table.groups).index(row)
    for key in ("average", "variance"):
        printed, beside = table.groups[row][key], table.groups[REFERENCE][key]
        unit = table.unit if key == "average" else f"({table.unit})²"
        turned = (table.id, key) == ENDED_BY_HOST
        yield Claim(
            id=f"Again, {table.id}: {algorithm}, {key}{', rows exchanged' if exchanged else ''}",
            says=f"{printed} {unit}",
            kind="between",
            what=None,
            between=rounding(printed),
            against=None if algorithm == REFERENCE else Reference({"algorithm": REFERENCE}, float(beside)),
            entries=(first + SUMMARY.index(key),),
            experiment=experiment,
            quantity=quantity if key == "average" else f"{quantity}_variance",
            where={"algorithm": algorithm},
            unit=unit,
            why=Cause.ENDED_CONNECTION if turned else None,
            setting=Setting(reading=_turning(algorithm)) if turned else None,
            uncounted="the two rows exchanged, as the published data have them" if exchanged else "",
        )


def _turning(algorithm: str) -> str:
    """Return the setting of the path with which the printed average of an algorithm is reproduced."""
    return ENDED_FQ_CODEL if algorithm in ABOVE_A_FIFO else ENDED


def rounding(printed: str) -> Expectation:
    """Return the range of values that round to a printed number.

    >>> rounding("5.10")
    Expectation(low=5.095, high=5.105)
    """
    digits = -int(Decimal(printed).as_tuple().exponent)
    half = Decimal(5).scaleb(-digits - 1)
    return Expectation(float(Decimal(printed) - half), float(Decimal(printed) + half))


# Sections of the report: statistical tests in which each run, not each sample, is one value, and results of
# experiments without printed numbers.


LEVEL = 0.05
NOTHING = "-"
Where = Mapping[str, Value]


def sections(found: Measurements) -> list[str | Aligned]:
    """Return the sections of the report about our runs: statistical tests, and experiments without printed
    numbers."""
    made = [
        _tests(found),
        _text_of_pairs(found),
        _text_of_classes(found),
        _text_of_marks(found),
        _wireless(found),
        _downloads(found),
    ]
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
    for path in found.choices(experiment, KEY):
        ours = {
            name: found.at(experiment, quantity, name, {KEY: path})
            for name in theirs
            if len(found.at(experiment, quantity, name, {KEY: path})) > 1
        }
        if len(ours) == len(theirs):
            means = [float(row["average"]) for row in theirs.values()]
            order = rank_correlation(means, [sum(ours[name]) / len(ours[name]) for name in theirs])
            yield [table, str(path), f"{float(printed):.1f}", *_tested(list(ours.values())), f"{order:+.2f}"]


def _tested(groups: Sequence[Sequence[float]]) -> list[str]:
    """Return Welch's F, its P value, and the number of pairs that differ. Return dashes if the values of a
    group are all equal."""
    try:
        test, pairs = welch_anova(groups), games_howell(groups)
    except ValueError:
        return [NOTHING] * 3
    return [f"{test.f:.3g}", f"{test.p:.2g}", f"{sum(pair.p < LEVEL for pair in pairs)}"]


def _text_of_pairs(found: Measurements) -> list[str | Aligned]:
    paths = found.choices(PAIRS, KEY)
    rows = [
        [
            pair,
            *(_shown(found, PAIRS, "share", "both", {"pair": pair, KEY: path}) for path in paths),
        ]
        for pair in BOTH
    ]
    return _table(
        "Two uploads: the share of the first. Announced in section 3, never shown:", ["", *paths], rows
    )


def _text_of_classes(found: Measurements) -> list[str | Aligned]:
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
            *(_shown(found, CLASSES, q, name, {"bottleneck": queue}) for q in quantities),
        ]
        for name, queue in product(ALGORITHMS, BOTTLENECKS)
    ]
    told = (
        "RRUL with classes: uploads of each in Mbit/s, UDP probes and pings (median) in ms, downloads in all:"
    )
    return _table(told, ["", "uplink and downlink", *quantities], rows)


def _text_of_marks(found: Measurements) -> list[str | Aligned]:
    quantities = ("upload", "median", "marked", "dropped")
    rows = [
        [name, str(way), *(_shown(found, MARKS, q, name, {"feedback": way}) for q in quantities)]
        for name, way in product(MARKED, FEEDBACK)
    ]
    told = (
        "Four uploads through DualPI2, with BBR-n+ as in the abstract, which no published run shows: "
        "Mbit/s, median ping in ms, packets marked and dropped in per cent:"
    )
    return _table(told, ["", "uplink", *quantities], rows)


def _wireless(found: Measurements) -> list[str | Aligned]:
    places = list(product(("upload", "median"), rerun_measures.STREAMS))
    rows = [
        [name, *(_shown(found, rerun_measures.NAME, q, name, {"streams": count}) for q, count in places)]
        for name in ALGORITHMS
    ]
    head = ["", *(f"{count} {'Mbit/s' if q == 'upload' else 'ms'}" for q, count in places)]
    return _table("Uploads of 1 to 16 streams over Wi-Fi, and the median ping:", head, rows)


def _downloads(found: Measurements) -> list[str | Aligned]:
    paths = (DIRECT, DIRECT + SERVERS_ALIKE, ENDED, ENDED + SERVERS_ALIKE)
    places = list(product((FAIR, BEST_EFFORT), paths))
    rows = [
        [name, *(_shown(found, test, "download", name, {KEY: path}) for test, path in places)]
        for name in ALGORITHMS
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
    """Return a mean over seeds with its 95 % interval, or a dash if nothing was measured."""
    values = found.at(experiment, quantity, name, where)
    if not values:
        return NOTHING
    mean, interval = sum(values) / len(values), interval_of(quantity, values)
    return f"{mean:.3g}" + (f" [{interval.low:.3g}, {interval.high:.3g}]" if interval else "")
