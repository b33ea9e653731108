"""Ad-BBR and five other algorithms on wired, Wi-Fi and mobile links: Wang et al., Future Internet 2025."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullpipe import files, markdown
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies import tables
from fullpipe.studies.adbbr2025 import figures, measures, mobile, wifi
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult, Part
from fullpipe.studies.claims import NUMBERS, Claim
from fullpipe.studies.experiments import Experiment, Measurements, measured
from fullpipe.studies.report import Report, Settings, complete, seeds_of
from fullpipe.studies.study import Plan, jobs_of, of_package
from fullpipe.studies.text import Aligned
from fullpipe.studies.verdicts import Verdict
from fullpipe.sweeps import Job

__all__ = ["checker", "jobs", "plan", "run", "transcription"]


# Tables of the experiments over Wi-Fi and 5G: the printed values, and our values in every radio cell.


TITLES: Mapping[str, str] = {
    wifi.DOWNLOAD: "Downloads over Wi-Fi",
    mobile.DOWNLOAD: "Downloads over 5G",
    wifi.FAIRNESS: "Flows of 10 and 50 ms over Wi-Fi",
    mobile.FAIRNESS: "Flows of 10 and 50 ms over 5G",
}
"""Titles of the tables by experiment, in the order of the report."""
QUANTITIES = {"nominal_percent": "rate, % above", "jain": "index, % above", "short_share": "share"}
BESIDE = "rtt"
"""The condition whose values are columns of the tables. Values of all other conditions are rows."""
PRINTED = "printed"
POINTS = "points.md"
"""Name of the Markdown file with the tables."""


def grid_sections(checked: Sequence[ClaimResult]) -> list[str | Aligned]:
    """Return the tables with an introduction, or nothing if no experiment over Wi-Fi or 5G was run."""
    found = {title: rows(checked, experiment) for experiment, title in TITLES.items()}
    shown = [part for title, table in found.items() if table for part in (f"{title}:", _shown(table))]
    head = "Every point of the grids, under the reading that counts; + is as printed."
    return [head, *shown] if shown else []


def write(checked: Sequence[ClaimResult], folder: Path) -> list[Path]:
    """Write the tables as a Markdown file, each below its title."""
    found = {title: rows(checked, experiment) for experiment, title in TITLES.items()}
    tables = [
        "\n".join([f"## {title}", "", *markdown.table(table[0], ["---"] * len(table[0]), table[1:])])
        for title, table in found.items()
        if table
    ]
    if not tables:
        return []
    path = folder / POINTS
    files.write(path, ("\n\n".join(tables) + "\n").encode())
    return [path]


def rows(checked: Sequence[ClaimResult], experiment: str) -> list[list[str]]:
    """Return the table of an experiment: the column heads, the printed values, and a row per cell and
    condition. The table is empty if the experiment was not run."""
    columns: dict[str, dict[tuple[str, ...], str]] = {}
    printed: dict[str, str] = {}
    seen: set[str] = set()
    keys: tuple[str, ...] = ()
    for result in checked:
        claim = result.claim
        at_each = claim.kind in NUMBERS and "cell" in claim.at_each and claim.experiment == experiment
        if claim.id in seen or not at_each:
            continue
        seen.add(claim.id)
        keys = tuple(key for key in claim.at_each if key != BESIDE)
        for part in result.numbers:
            heading = _heading(result, part)
            printed[heading] = _printed(result)
            columns.setdefault(heading, {})[tuple(str(part.where[key]) for key in keys)] = _cell(part)
    points = dict.fromkeys(point for column in columns.values() for point in column)
    if not points:
        return []
    filled = [[*point, *(column.get(point, "") for column in columns.values())] for point in points]
    blank = [""] * (len(keys) - 1)
    return [[*keys, *columns], [PRINTED, *blank, *(printed[name] for name in columns)], *filled]


def _shown(table: Sequence[Sequence[str]]) -> Aligned:
    """Return a table for a terminal. Columns with numbers are right-aligned, columns with conditions
    left-aligned."""
    return Aligned(table, right=[i for i, cell in enumerate(table[1]) if i and cell])


def _heading(result: ClaimResult, part: Part) -> str:
    """Return the head of a column: the quantity, the algorithm (for a relative change, the algorithm that it
    refers to), and the RTT."""
    claim = result.claim
    against = claim.what["against"] if claim.kind == "change" else None
    name = against or part.where.get("algorithm") or claim.where.get("algorithm")
    beside = f", {part.where[BESIDE]}" if BESIDE in part.where else ""
    return f"{QUANTITIES[claim.quantity]} {name}{beside}"


def _printed(result: ClaimResult) -> str:
    assert result.claim.between is not None
    return f"{result.claim.between.middle:.3g}"


def _cell(part: Part) -> str:
    mark = "+" if part.result.verdict is Verdict.REPRODUCED else " "
    return f"{part.mean:.3g} {mark}" if part.mean is not None else ""


# The study: five wired experiments, two experiments over each of Wi-Fi, 5G and LTE, and six algorithms.
# Ad-BBR is run under eight interpretations of the paper's text.


transcription = of_package(__package__)

SUBJECT = "Ad-BBR"
LONE = figures.LONE
OTHERS = {"BBRv1": "bbr1", "BBRv3": "bbr3", "BBQ": "bbq", "CUBIC": "cubic", "Reno": "reno"}
PRESETS = ("faithful", "literal", "sane", "dynamic", "si", "reduce", "reduce_dynamic")
"""Presets of `ad_bbr`, each a reading of the pseudo-code. We chose the last two presets after comparing
results with the paper's claims."""
READINGS = {f"{SUBJECT} {preset}": {"kind": "ad_bbr", "preset": preset} for preset in PRESETS} | {
    f"{SUBJECT} sane counters": {"kind": "ad_bbr", "preset": "sane", "trigger": "counters"}
}
ALGORITHMS: Mapping[str, Any] = {**READINGS, **OTHERS}

KEYS = {
    "topology.bottleneck.queue.size": "buffer",
    "topology.bottleneck.loss.probability": "loss",
    "flows.0.count": "flows",
}
MEASURES = {
    "loss": measures.lone_flow,
    "fairness": measures.two_flows,
    "join-leave": measures.joining_flows,
    "retransmissions": measures.many_flows,
    "latency": measures.many_flows,
}
REMARKS = (
    ". A claim about Ad-BBR is judged for every reading of its pseudo-code. The reading that counts is the "
    "reasonable one that is closest to the printed text."
)
SEEDS = 5
QUICK_SEEDS = 3
QUICK_DURATION = {"loss": "20 s", "fairness": "25 s", "retransmissions": "15 s", "latency": "15 s"}
"""Durations of experiments in the quick form. The experiment "join-leave" has a fixed schedule, so it cannot
be shortened."""


def experiments(*, quick: bool) -> list[Experiment]:
    """Return the five wired experiments. In the quick form, the experiments in `QUICK_DURATION` are
    shorter."""
    found = []
    for name, measure in MEASURES.items():
        scenario = Scenario.named(f"adbbr2025-{name}")
        if quick and name in QUICK_DURATION:
            scenario = scenario.with_values({"duration": QUICK_DURATION[name]})
        keys = {path: KEYS[path] for path in scenario.sweep}
        found.append(Experiment(name, scenario, keys, measure))
    return found


def lone_flows() -> Experiment:
    """Return the experiment of Figure 2, in which a lone flow without loss fills the buffer. No claim uses
    this experiment."""
    values = {
        "duration": "30 s",
        "topology.bottleneck.queue.size": "5 bdp",
        "topology.bottleneck.loss.probability": 0.0,
        "record.interval": "10 ms",
    }
    return Experiment(LONE, Scenario.named("adbbr2025-loss").with_values(values), {}, measures.lone_flow)


def plan(*, quick: bool, radio: bool = True) -> Plan:
    """Return the plan: all experiments with all algorithms, and the experiment of `lone_flows` with BBRv1 and
    CUBIC.

    Experiments over Wi-Fi and 5G are included if `radio` is true.
    """
    todo = [*experiments(quick=quick), *mobile.lte_experiments(quick=quick)]
    if radio:
        todo += [*wifi.experiments(quick=quick), *mobile.experiments(quick=quick)]
    lone = (lone_flows(), {name: OTHERS[name] for name in ("BBRv1", "CUBIC")})
    return [*((experiment, ALGORITHMS) for experiment in todo), lone]


def jobs(settings: Settings) -> list[Job]:
    """Return the jobs of all runs of the study.

    Only the native engine runs the experiments over Wi-Fi and 5G. On ns-3, runs over Wi-Fi would take days,
    and ns-3 has no NR.
    """
    radio = settings.engine == "native"
    return jobs_of(plan(quick=settings.quick, radio=radio), settings.seeds_or(SEEDS, QUICK_SEEDS))


def run(settings: Settings, todo: Sequence[Job]) -> Report:
    """Run the jobs that are not stored yet, and write tables, verdicts and figures."""
    source = transcription()
    runs = settings.run(todo)
    found = measured([experiment for experiment, _ in plan(quick=settings.quick)], todo, runs)
    checked = check_claims(source.claims, found)
    written = tables.write(settings, found, checked, seeds_of(todo)) + write(checked, settings.folder)
    if whole := complete(runs):
        written += figures.draw(found, _series(todo, whole), settings.folder)
    sections = grid_sections(checked)
    told = tables.report(source, checked, seeds_of(todo), REMARKS, sections=sections, quick=settings.quick)
    return Report(told, tuple(written), settings.folder)


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker of the claims. The checker checks claims about Ad-BBR for every reading of the
    pseudo-code."""
    return ClaimChecker(with_growth(found), tuple(READINGS), subject=SUBJECT, others=tuple(OTHERS))


def check_claims(claims: Iterable[Claim], found: Measurements) -> list[ClaimResult]:
    """Check every claim. Claims about Ad-BBR are checked for every reading of its pseudo-code."""
    return checker(found).check_all(claims)


def with_growth(found: Measurements) -> Measurements:
    """Add quantities that compare conditions: the effects of more flows on retransmissions and RTT, and of a
    larger buffer on the share of the flow with the short RTT."""
    found.subtract("retransmissions", "retransmitted_percent", "flows", 16, 2, "growth_percent")
    found.subtract("latency", "rtt_ms", "flows", 16, 1, "growth_ms")
    for experiment in (wifi.FAIRNESS, mobile.FAIRNESS, mobile.LTE_FAIRNESS):
        found.subtract(experiment, "short_share", "buffer", "5 bdp", "0.5 bdp", "share_change")
    mobile.compare_with_wifi(found, tuple(ALGORITHMS))
    return found


def _series(todo: Sequence[Job], runs: Sequence[Run]) -> figures.Series:
    """Return the runs with samples by experiment, algorithm and buffer, in the order of the seeds."""
    found: figures.Series = {}
    for job, one in zip(todo, runs, strict=True):
        if job.scenario.record.interval_s:
            key = (job.point["experiment"], job.point["algorithm"], str(job.point.get("buffer", "")))
            found.setdefault(key, []).append(one)
    return found
