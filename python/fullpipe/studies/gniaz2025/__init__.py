"""Bandwidth and delay that vary under CUBIC and BBRv1: Gniaz, TU Delft 2025."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from fullpipe.runs import Run
from fullpipe.scenario import Scenario, resolve
from fullpipe.studies import tables
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Experiment, Measurements, Variants, measured
from fullpipe.studies.gniaz2025 import measures
from fullpipe.studies.gniaz2025.measures import PHASES, Phases, lone_flow, two_flows, two_flows_on
from fullpipe.studies.report import Report, Settings, complete, seeds_of
from fullpipe.studies.study import jobs_of, of_package
from fullpipe.sweeps import Job

__all__ = ["checker", "jobs", "plan", "run", "transcription"]


# Wi-Fi access as in the published program of the thesis: a Wi-Fi cell on each side of the bottleneck.


NAMES = ("bottleneck", "bottleneck-reverse")
"""Names of the links between the access points: the direction of data, and the direction of ACKs."""


def over_wifi(scenario: Scenario) -> Scenario:
    """Return a dumbbell whose senders are stations of one Wi-Fi cell, and whose receivers are stations of
    another.

    Cells have the defaults of ns-3 (preset `ns3`). Each cell has its own channel."""
    tree = scenario.to_dict()
    shape, numbers = tree["topology"], range(1, len(tree["flows"]) + 1)
    senders, receivers = ([f"{side}-{n}" for n in numbers] for side in ("sender", "receiver"))
    ways = zip(NAMES, (("left", "right"), ("right", "left")), ("bottleneck", "reverse"), strict=True)
    links = [{"name": name, "from": a, "to": b, **shape[way]} for name, (a, b), way in ways]
    ends = zip(tree["flows"], senders, receivers, strict=True)
    return Scenario(
        **{
            **tree,
            "topology": {"kind": "graph", "nodes": ["left", "right", *senders, *receivers], "links": links},
            "cells": [_cell("left", senders), _cell("right", receivers)],
            "flows": [{**flow, "from": sender, "to": receiver} for flow, sender, receiver in ends],
        }
    )


def _cell(hub: str, nodes: list[str]) -> dict[str, Any]:
    stations = [{"node": node} for node in nodes]
    return {"name": f"wifi-{hub}", "kind": "wifi", "preset": "ns3", "hub": hub, "stations": stations}


# The six scenarios of the thesis, each under several settings of the parameters that the thesis leaves open.


transcription = of_package(__package__)

ALGORITHMS: Mapping[str, Any] = {
    "CUBIC": {"kind": "cubic", "hystart": "ns3"},
    "BBRv1": {"kind": "bbr1", "policer": False},
}
OF_LINUX: Mapping[str, Any] = {"CUBIC": "cubic", "BBRv1": "bbr1"}
TOGETHER = "both"
TWO_FLOWS = "two flows"
GOING_ON, ON_UNTIL = "two flows, going on", "40 s"
"""Name and end time of an experiment in which the two flows continue beyond the end of the run in the thesis.
The thesis states what it would expect of such a run."""
STEPS = ("large step", "small step", TWO_FLOWS)
"""Scenarios that are run with delays of 50 and 100 ms."""

LINKS = ("topology.bottleneck", "topology.reverse")
LINKS_OF_GRAPH = ("topology.links.0", "topology.links.1")
"""Key paths, in a scenario, of the bottleneck's two links: the direction of data, and the direction of
ACKs."""

SETTING, CODED, LINUX = "setting", "as coded", "Linux's TCP"
LARGE_SOCKETS, SMALL_BURST, HIGHEST = "large sockets", "small burst", "queue by highest rate"
NO_DEVICE, WIFI = "no device", "Wi-Fi access"
READINGS = (CODED, LINUX, LARGE_SOCKETS, SMALL_BURST, HIGHEST, NO_DEVICE, WIFI)
"""Settings of the parameters that the thesis leaves open. Only verdicts under the first setting, the
parameters as coded, are counted."""
SMALL_BURST_BYTES = 1764
"""Size of three packets of 588 B."""
WRITE_BITS = 8192
"""Bits of one write of the application. The program of the thesis computes the queue's limit in packets of
this size."""
TCP_OF_LINUX: Mapping[str, Any] = {
    "tcp.loss_detection": "rack",
    "tcp.min_rto": "200 ms",
    "tcp.tail_loss_probe": True,
    "tcp.undo": True,
    "tcp.prr": "rfc9937",
    "tcp.full_send_buffer": "app_limited",
    "tcp.idle_application": "app_limited",
    "tcp.sack_compression": True,
    "tcp.max_burst": "64 KiB",
}

REMARKS = (
    '. Throughput counts the headers of IP and TCP. "Lost", the word of the thesis, means packets that the '
    "network dropped; with two flows, those that the sender marked lost. Access is wired in all settings but "
    "one."
)
SETUP = "The set-up, as printed or as coded, and as used here:"
SEEDS = 10
QUICK_SEEDS = 3


def plan(
    *, quick: bool = False, readings: Sequence[str] = READINGS
) -> list[tuple[Experiment, Mapping[str, Any]]]:
    """Return the experiments: the six scenarios under every setting, with their algorithms.

    The scenarios in `STEPS` are run with both delays. The scenarios are short, so the quick form differs only
    in having fewer seeds."""
    del quick
    found = []
    named = {name: Scenario.named(f"gniaz2025-{number}") for number, name in enumerate(PHASES, start=1)}
    for (name, phases), reading in product(PHASES.items(), readings):
        scenario = _read(named[name], reading)
        together = name == TWO_FLOWS
        measure = partial(two_flows if together else lone_flow, phases=phases)
        of = OF_LINUX if reading == LINUX else ALGORITHMS
        variants = _variants(scenario, phases, reading, delays=name in STEPS, together=together)
        flows = () if together else None
        chosen = {TOGETHER: None} if together else of
        found.append((Experiment(name, scenario, {}, measure, variants, flows), chosen))
        if together:
            on = scenario.with_values({"duration": ON_UNTIL})
            found.append((Experiment(GOING_ON, on, {}, two_flows_on, variants, flows), chosen))
    return found


def _read(scenario: Scenario, reading: str) -> Scenario:
    """Return the scenario with Wi-Fi access if the setting is `WIFI`, otherwise unchanged."""
    return over_wifi(scenario) if reading == WIFI else scenario


def _variants(
    scenario: Scenario, phases: Phases, reading: str, *, delays: bool, together: bool
) -> dict[str, Variants]:
    """Return the changes of a scenario for a setting and for each delay. The limit of the queue depends on
    the delay."""
    values = _settings(together)[reading]
    rate_mbps = max(phases.rates) if reading == HIGHEST else phases.rates[0]
    links = LINKS_OF_GRAPH if reading == WIFI else LINKS
    if delays:
        each: Variants = {ms: {**_delay(links, ms), **_queue(links, rate_mbps, ms)} for ms in (50, 100)}
        return {SETTING: {reading: values}, "delay": each}
    first_ms = 1e3 * resolve(scenario).links[0].delay_s
    return {SETTING: {reading: {**values, **_queue(links, rate_mbps, first_ms)}}}


def _settings(together: bool) -> Variants:
    """Return the changes that each setting makes to the parameters as coded."""
    algorithms = {f"flows.{i}.cca": cca for i, cca in enumerate(OF_LINUX.values())}
    linux = {**TCP_OF_LINUX, **(algorithms if together else {})}
    return {
        CODED: {},
        LINUX: linux,
        LARGE_SOCKETS: {"tcp.send_buffer": "500 MB", "tcp.receive_buffer": "500 MB"},
        SMALL_BURST: {"topology.bottleneck.queue.burst_bytes": SMALL_BURST_BYTES},
        HIGHEST: {},
        NO_DEVICE: {f"{link}.{key}": None for link in LINKS for key in ("rate", "device_queue")},
        WIFI: {},
    }


def _queue(links: Sequence[str], rate_mbps: float, delay_ms: float) -> dict[str, int]:
    """Return the limit of the queue as coded in the thesis: 2 x rate x one-way delay / (size of one
    write)."""
    packets = int(2 * rate_mbps * 1e6 * delay_ms / 1e3 / WRITE_BITS)
    return {f"{links[0]}.queue.packets": packets}


def _delay(links: Sequence[str], delay_ms: int) -> dict[str, str]:
    return {f"{link}.delay": f"{delay_ms} ms" for link in links}


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker that checks the claims under every setting."""
    return ClaimChecker(found, READINGS, key=SETTING)


def check_claims(claims: Iterable[Claim], found: Measurements) -> list[ClaimResult]:
    """Check every claim under every setting."""
    return checker(found).check_all(claims)


def jobs(settings: Settings) -> list[Job]:
    """Return the jobs of all runs of the study. Engines other than the native engine run only two
    settings."""
    readings = READINGS if settings.engine == "native" else (CODED, WIFI)
    return jobs_of(plan(readings=readings), settings.seeds_or(SEEDS, QUICK_SEEDS))


def run(settings: Settings, todo: Sequence[Job]) -> Report:
    """Run the jobs that are not stored yet, and write tables, verdicts and figures."""
    source = transcription()
    runs = settings.run(todo)
    found = measured([experiment for experiment, _ in plan()], todo, runs)
    checked = check_claims(source.claims, found)
    written = tables.write(settings, found, checked, seeds_of(todo))
    if whole := complete(runs):
        written += measures.draw(_first(todo, whole), settings.folder)
    told = tables.report(source, checked, seeds_of(todo), REMARKS, setup=SETUP)
    return Report(told, tuple(written), settings.folder)


def _first(todo: Sequence[Job], runs: Sequence[Run]) -> measures.Drawn:
    """Return the run of the first seed for every experiment, setting, algorithm and delay."""
    found: measures.Drawn = {}
    for job, one in zip(todo, runs, strict=True):
        experiment, algorithm, setting = (job.point[key] for key in ("experiment", "algorithm", SETTING))
        found.setdefault((experiment, setting, algorithm, job.point.get("delay")), one)
    return found
