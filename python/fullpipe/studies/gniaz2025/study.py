"""Runs the six scenarios, each under several settings of what the thesis leaves open or does not say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies import tables
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Experiment, Measurements, Variants, measured
from fullpipe.studies.gniaz2025 import figures
from fullpipe.studies.gniaz2025.measures import PHASES, lone_flow, two_flows, two_flows_on
from fullpipe.studies.plan import jobs_of
from fullpipe.studies.report import Report, Settings, complete, seeds_of
from fullpipe.studies.transcription import of_package
from fullpipe.sweeps import Job

transcription = of_package(__package__)

ALGORITHMS: Mapping[str, Any] = {"CUBIC": "cubic", "BBRv1": "bbr1"}
UNPOLICED: Mapping[str, Any] = {"CUBIC": "cubic", "BBRv1": {"kind": "bbr1", "policer": False}}
TOGETHER = "both"
TWO_FLOWS = "two flows"
GOING_ON, ON_UNTIL = "two flows, going on", "40 s"
"""What the thesis expects if their connection persisted."""
STEPS = ("large step", "small step", TWO_FLOWS)
"""Run with both delays."""

SETTING, CODED, NO_POLICER = "setting", "as coded", "no policer detection"
LARGE_SOCKETS, SMALL_BURST, HIGHEST = "large sockets", "small burst", "queue by highest rate"
READINGS = (CODED, LARGE_SOCKETS, SMALL_BURST, HIGHEST, NO_POLICER)
"""What counts is what was coded."""
SMALL_BURST_BYTES = 3228
"""Three packets."""
QUEUE_PER_BDP = 1.051
"""The limit counts payload of 1024 B, our BDP packets of 1076 B."""

REMARKS = (
    ". Throughput counts the headers of IP and TCP, lost packets every drop. Access is wired: Wi-Fi is not "
    "testable here."
)
SETUP = "The set-up, as printed or as coded, and as used here:"
SEEDS = 10
QUICK_SEEDS = 3


def plan(*, quick: bool = False) -> list[tuple[Experiment, Mapping[str, Any]]]:
    """The six scenarios with their algorithms, under every setting; those with a step under both delays.

    They are short: a quick form has fewer seeds only."""
    del quick
    found = []
    for number, (name, phases) in enumerate(PHASES.items(), start=1):
        together = name == TWO_FLOWS
        delays: dict[str, Variants] = {"delay": {delay: _delay(delay) for delay in (50, 100)}}
        measure = partial(two_flows if together else lone_flow, phases=phases)
        without = {"flows.1.cca": UNPOLICED["BBRv1"]} if together else {}
        settings: list[tuple[Variants, Mapping[str, Any]]] = [
            (_settings(max(phases.rates) / phases.rates[0]), ALGORITHMS),
            ({NO_POLICER: without}, UNPOLICED),
        ]
        for values, algorithms in settings:
            variants = {SETTING: values, **(delays if name in STEPS else {})}
            scenario, flows = Scenario.named(f"gniaz2025-{number}"), () if together else None
            chosen = {TOGETHER: None} if together else algorithms
            found.append((Experiment(name, scenario, {}, measure, variants, flows), chosen))
            if together:
                on = scenario.with_values({"duration": ON_UNTIL})
                found.append((Experiment(GOING_ON, on, {}, two_flows_on, variants, flows), chosen))
    return found


def _settings(highest_to_first: float) -> Variants:
    queue = "topology.bottleneck.queue"
    return {
        CODED: {},
        LARGE_SOCKETS: {"tcp.send_buffer": "1 GB", "tcp.receive_buffer": "1 GB"},
        SMALL_BURST: {f"{queue}.burst_bytes": SMALL_BURST_BYTES},
        HIGHEST: {f"{queue}.size": f"{QUEUE_PER_BDP * highest_to_first:.3f} bdp"},
    }


def _delay(delay_ms: int) -> dict[str, str]:
    return {f"topology.{way}.delay": f"{delay_ms} ms" for way in ("bottleneck", "reverse")}


def checker(found: Measurements) -> ClaimChecker:
    """Every claim is held against every setting."""
    return ClaimChecker(found, READINGS, key=SETTING)


def check_claims(claims: Iterable[Claim], found: Measurements) -> list[ClaimResult]:
    """Every claim under every setting."""
    return checker(found).check_all(claims)


def jobs(settings: Settings) -> list[Job]:
    """Every run of the study."""
    return jobs_of(plan(), settings.seeds_or(SEEDS, QUICK_SEEDS))


def run(settings: Settings) -> Report:
    """Run what is missing, and write tables, verdicts and figures."""
    source, todo = transcription(), jobs(settings)
    runs = settings.run(todo)
    found = measured([experiment for experiment, _ in plan()], todo, runs)
    checked = check_claims(source.claims, found)
    written = tables.write(settings, found, checked, seeds_of(todo))
    if whole := complete(runs):
        written += figures.draw(_first(todo, whole), settings.folder)
    report = tables.report(source, checked, seeds_of(todo), REMARKS, setup=SETUP)
    return Report(report, tuple(written), settings.folder)


def _first(todo: Sequence[Job], runs: Sequence[Run]) -> figures.Drawn:
    """The first run of everything."""
    found: figures.Drawn = {}
    for job, one in zip(todo, runs, strict=True):
        experiment, algorithm, setting = (job.point[key] for key in ("experiment", "algorithm", SETTING))
        found.setdefault((experiment, setting, algorithm, job.point.get("delay")), one)
    return found
