"""Routes that change under BBRv3 and CUBIC: Sologon, TU Delft 2025."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies import tables
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Experiment, Measurements, Value, Variants, measured
from fullpipe.studies.report import Report, Settings, complete, seeds_of
from fullpipe.studies.sologon2025 import measures
from fullpipe.studies.study import Plan, jobs_of, of_package
from fullpipe.studies.text import Aligned, interval_of
from fullpipe.sweeps import Job

__all__ = ["checker", "jobs", "plan", "run", "transcription"]


# Sections of the report about the settings that the thesis leaves open.


ROUTES: Mapping[str, str] = {"mean": "mean", "flow_30": "30 ms", "flow_90": "90 ms"}
TEXT_LINKS: Mapping[str, str] = {
    "long_share_percent": "70 + 90 ms (%)",
    "dynamic_on_bbr": "on link 1",
    "dynamic_on_cubic": "on link 2",
    "jain_cubic_shared": "Jain, five on link 2",
    "bbr_gap_s": "link 1 not full (s)",
    "cubic_gap_s": "link 2 not full (s)",
}
CONTROLLED: Mapping[str, str] = {
    "long_mean": "long flows",
    "jain": "Jain",
    "link_1": "link 1 (%)",
    "link_2": "link 2 (%)",
    "short_median_ms": "50 kB, median (ms)",
    "short_p95_ms": "p95 (ms)",
}


REMARKS = (
    ". Throughput counts the headers of IP and TCP. Flows are named by their one-way delay along the faster "
    "route."
)


def text_sections(found: Measurements) -> list[str | Aligned]:
    """Return tables of the results under every setting, for all experiments."""
    return [
        "Experiment 1 under every setting, throughput in Mbit/s:",
        settings_text(found, "routes", ROUTES, "setting", "interval"),
        "Experiment 2 under every setting, throughput of the dynamic flow in Mbit/s:",
        settings_text(found, "links", TEXT_LINKS, "setting"),
        "With a controller (the thesis prints no results of one), by the algorithm of the ninth flow:",
        settings_text(found, "controller", CONTROLLED, "policy"),
    ]


def settings_text(
    found: Measurements, experiment: str, quantities: Mapping[str, str], first: str, *more: str
) -> Aligned:
    """Return a table with one row for every combination of the condition `first`, the algorithm and the
    conditions in `more`."""
    rows = [[first, "algorithm", *more, *quantities.values()]]
    for value, algorithm, *others in product(
        found.choices(experiment, first),
        ("BBRv3", "CUBIC"),
        *(found.choices(experiment, key) for key in more),
    ):
        where = {first: value, **dict(zip(more, others, strict=True))}
        cells = [
            _cell(quantity, found.at(experiment, quantity, str(algorithm), where)) for quantity in quantities
        ]
        rows.append([str(value), str(algorithm), *map(str, others), *cells])
    return Aligned(rows, right=range(2 + len(more), len(rows[0])))


def _cell(quantity: str, values: Sequence[float]) -> str:
    interval = interval_of(quantity, values)
    if interval is None:
        return f"{values[0]:.3g}" if values else ""
    return f"{sum(values) / len(values):.3g} [{interval.low:.3g}, {interval.high:.3g}]"


# Both experiments of the thesis under several settings of the parameters that the thesis leaves open, and an
# experiment with a route controller.


transcription = of_package(__package__)

ALGORITHMS: Mapping[str, Any] = {"BBRv3": "bbr3", "CUBIC": "cubic"}
NEVER = "1000 s"
INTERVALS: Mapping[Value, str] = {"never": NEVER, 10: "10 s", 5: "5 s", 3: "3 s"}
SETTING, STATED = "setting", "as stated"
ACKS_TOO, EVERY_10_S, PACKETS_100, FQ_CODEL = "ACKs too", "every 10 s", "100 packets", "fq_codel"
DUPLICATES = "fq_codel, duplicate ACKs"
READINGS = (STATED, ACKS_TOO, EVERY_10_S, PACKETS_100, FQ_CODEL, DUPLICATES)
"""Settings of the parameters that the thesis leaves open. Only verdicts under the first setting, the
parameters as stated, are counted."""
SHORT_QUEUE = {"kind": "drop_tail", "packets": 100}
FAIR_QUEUE = {"kind": "fq_codel"}
"""Default queue of ns-3."""
BY_DUPLICATES = {"tcp.loss_detection": "dupack", "tcp.undo": False}
"""Loss recovery as in ns-3: three duplicate ACKs mark a loss, and window reductions are never undone."""

SEEDS = 5
QUICK_SEEDS = 2
QUICK_S = 70
"""Duration of experiment 1 in the quick form, in s. The duration of experiment 2 is the same in both
forms."""
FLOWS, LINKS = 4, 2
POLICIES = ("periodic", "least_loaded")
"""Policies of the route controller. No claim uses them, because the thesis prints no results with a
controller."""


def experiments(*, quick: bool) -> list[Experiment]:
    """Return the two experiments of the thesis under every setting, and the experiment with a route
    controller."""
    routes, links = Scenario.named("sologon2025-routes"), Scenario.named("sologon2025-links")
    controlled, many = Scenario.named("sologon2025-controller"), measures.controlled_flows
    four, nine = measures.four_flows, measures.nine_flows
    policies: Variants = {
        "never": {"route_controllers.0.every": NEVER},
        **{policy: {"route_controllers.0.policy": policy} for policy in POLICIES},
    }
    controlled = controlled.with_values({"route_controllers.0.policy": POLICIES[0]})
    return [
        Experiment("routes", routes, {}, four, {SETTING: _routes(quick=quick), "interval": _intervals()}),
        Experiment("links", links, {}, nine, {SETTING: _links()}, flows=(0,)),
        Experiment("controller", controlled, {}, many, {"policy": policies}, flows=(0,)),
    ]


def _intervals() -> Variants:
    return {
        name: {f"flows.{i}.alternate.every": every for i in range(FLOWS)} for name, every in INTERVALS.items()
    }


def _routes(*, quick: bool) -> Variants:
    lasting = {"duration": f"{QUICK_S} s"} if quick else {}
    return {
        STATED: lasting,
        ACKS_TOO: {**lasting, **{f"flows.{i}.alternate.ways": "both" for i in range(FLOWS)}},
        PACKETS_100: {**lasting, **_queues(FLOWS, SHORT_QUEUE)},
        FQ_CODEL: {**lasting, **_queues(FLOWS, FAIR_QUEUE)},
        DUPLICATES: {**lasting, **_queues(FLOWS, FAIR_QUEUE), **BY_DUPLICATES},
    }


def _links() -> Variants:
    return {
        STATED: {},
        EVERY_10_S: {"flows.0.alternate.every": "10 s"},
        PACKETS_100: _queues(LINKS, SHORT_QUEUE),
        FQ_CODEL: _queues(LINKS, FAIR_QUEUE),
        DUPLICATES: {**_queues(LINKS, FAIR_QUEUE), **BY_DUPLICATES},
    }


def _queues(links: int, queue: Mapping[str, Any]) -> dict[str, Any]:
    return {f"topology.links.{i}.queue": queue for i in range(links)}


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker that checks the claims under every setting of their experiment."""
    return ClaimChecker(found, READINGS, key=SETTING)


def check_claims(claims: Iterable[Claim], found: Measurements) -> list[ClaimResult]:
    """Check every claim under every setting of its experiment."""
    return checker(found).check_all(claims)


def plan(*, quick: bool) -> Plan:
    """Return the plan: all experiments, each with BBRv3 and CUBIC."""
    return [(experiment, ALGORITHMS) for experiment in experiments(quick=quick)]


def jobs(settings: Settings) -> list[Job]:
    """Return the jobs of all runs of the study."""
    return jobs_of(plan(quick=settings.quick), settings.seeds_or(SEEDS, QUICK_SEEDS))


def run(settings: Settings, todo: Sequence[Job]) -> Report:
    """Run the jobs that are not stored yet, and write tables, verdicts and figures."""
    source = transcription()
    runs = settings.run(todo)
    found = measured(experiments(quick=settings.quick), todo, runs)
    checked = check_claims(source.claims, found)
    written = tables.write(settings, found, checked, seeds_of(todo))
    if whole := complete(runs):
        written += measures.draw(_first(todo, whole), settings.folder)
    sections, quick = text_sections(found), settings.quick
    told = tables.report(source, checked, seeds_of(todo), REMARKS, sections=sections, quick=quick)
    return Report(told, tuple(written), settings.folder)


def _first(todo: Sequence[Job], runs: Sequence[Run]) -> measures.Drawn:
    """Return the run of the first seed, under the setting `STATED`, for every experiment, algorithm and
    interval."""
    found: measures.Drawn = {}
    for job, one in zip(todo, runs, strict=True):
        key = (job.point["experiment"], job.point["algorithm"], job.point.get("interval", ""))
        if job.point.get(SETTING) == STATED:
            found.setdefault(key, one)
    return found
