"""Agreement suites: their cases, their runs on engines and on the Linux kernel, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import polars as pl

from fullpipe.api import refusals
from fullpipe.engines import Engine, engine
from fullpipe.runs import Run, Store
from fullpipe.sweeps import Job, Outcome, Progress, stream
from fullpipe.validation.agree import case as of
from fullpipe.validation.agree import transients
from fullpipe.validation.agree.case import (
    CHANCE_STARTS,
    DURATION_S,
    START_JITTER,
    STARTS,
    WARMUP_S,
    Case,
)
from fullpipe.validation.agree.catalogue import cases, held_out_cases
from fullpipe.validation.agree.errors import QUANTITIES, SCHEMA, ErrorTarget, errors_of, large
from fullpipe.validation.compare import compare

# Suites of modified kernels: with Google's BBRv3, and with TCP Prague.


_LOSSES_AND_MARKS = (
    ErrorTarget("retransmitted", "retransmissions", 80.0, 0.05, 0.25),
    ErrorTarget("marking_rate", "marks", 0.0, 0.05, 0.15),
)
"""Error targets that the suites `bbr3` and `prague` share. Differences of up to 20 retransmissions (25 % of
the floor of 80 packets) are always within the target."""
BBR3_QUANTITIES = (
    ErrorTarget("goodput", "goodput", 0.0, 0.0025, 0.01),
    ErrorTarget("srtt_mean", "mean RTT", 0.0, 0.005, 0.02),
    *_LOSSES_AND_MARKS,
)
BBR3_KERNEL = """\
The reference is Linux 7.2 with Google's BBRv3 beside BBRv1. The source of BBRv3 is the branch `v3` of
the repository google/bbr: tag `bbrv3-2025-03-18`, commit 90210de4b779, which Google published on Linux
6.13.7. Its `tcp_bbr.c` and its changes of TCP's core are in the kernel. [The Linux
engine](../how-to/engines.md) installs a kernel from a tree of your own. With such a kernel in the cache
`DIR`, this command repeats the comparison:

```text
XDG_CACHE_HOME=DIR fullpipe agree --suite bbr3 --jobs 2 -o docs/explanation/agreement-bbr3.md
```

The kernel is only the reference of the comparison; this project contains no code of the kernel."""
BBR3_KNOWN = """\
**`tcp_shifted_skb`.** With short queues, retransmissions differ because of a peculiarity of Google's
kernel. When the first packets of a burst are selectively acknowledged, the kernel moves these packets
into the previous burst and subtracts them from `tx.in_flight` of the remaining burst. As a result,
`inflight_hi` is set one to three packets lower, and the next probe loses more packets. The option
`tcp.lost_in_flight = "shifted"` has the same effect in the native engine. The option is off by default,
because this peculiarity is not part of BBRv3's law. The table has retransmissions with a queue of 1 BDP
unless stated otherwise (100 Mbit/s with 5 ms: means of 20 starts; 50 Mbit/s: 3 starts, from 5 s to 25 s):

| path | kernel | native | native, `"shifted"` |
| --- | --- | --- | --- |
| 100 Mbit/s, 5 ms | 577 | 286 | 529 |
| 50 Mbit/s, 20 ms, 0.5 BDP | 76 | 61 | 79 |

With 100 Mbit/s, 20 ms and 0.2 BDP, the option changes little (103 retransmissions, kernel 134). With 500
Mbit/s, it changes nothing.

**Beyond chance.** By chance alone, about one of a hundred values is marked as beyond chance, and
the page has about two hundred values. After Holm's correction over all values, two of the listed errors
remain significant: the retransmissions with 100 Mbit/s and 5 ms, and the mean RTT with 500 Mbit/s and 10
ms. The cause of the second error is unknown. The kernel draws the same random numbers in every run, so
its waits between probes are the same with every start time. So the intervals may be too narrow."""
PRAGUE_QUANTITIES = (
    ErrorTarget("goodput", "goodput", 0.0, 0.01, 0.03),
    ErrorTarget("srtt_mean", "mean RTT", 0.0, 0.02, 0.05),
    *_LOSSES_AND_MARKS,
)
PRAGUE_KERNEL = """\
The reference is Linux 7.2 with L4STeam's TCP Prague, version 0.6, on which the native algorithm is
modelled. The source of Prague is `tcp_prague.c` of the repository L4STeam/linux at commit 02573a215581.
Version 0.7 is the newest in that repository. AccECN and DualPI2 are those of Linux 7.2. The detection of
classic ECN queues, which is off by default in version 0.6, is left out. [The Linux
engine](../how-to/engines.md) installs a kernel from a tree of your own. With such a kernel in the cache
`DIR`, this command repeats the comparison:

```text
XDG_CACHE_HOME=DIR fullpipe agree --suite prague --jobs 2 -o docs/explanation/agreement-prague.md
```

The kernel is only the reference of the comparison; this project contains no code of the kernel."""
PRAGUE_KNOWN = """\
Version 0.6 leaves slow start after some round trips on any link, because its fractional window, which
determines its pacing rate, keeps the initial value. The native algorithm does the same: in the first
tenths of a second, a single native flow sends the same packets as the kernel. Behind CoDel at 50 Mbit/s
with 40 ms, a run of the native engine and a run of the kernel have 791 marks each.

With two packets per burst, the queue of a single flow is about four packets, near the step of 1 ms. So
for many round trips, the number of marks depends on which packets the sender holds back until the next
ACK. Therefore a native flow has the same marks as the kernel's flow only while the two flows send exactly
the same packets. The longest observed time with the same packets is 6 s, at 10 Mbit/s with 20 ms. Sending
the same packets needs three rules, which hold for every algorithm. The receive window grows in units of a
segment without the AccECN option. The send buffer holds two congestion windows unless an algorithm
requests three. A timer runs before a packet that arrives at the same time."""
_QUEUES: Mapping[str, Mapping[str, Any]] = {
    "dualpi2": {"kind": "dualpi2"},
    "step": {"kind": "step", "mark_ms": 1},
    "codel": {"kind": "codel", "ecn": True},
}


def bbr3_cases() -> list[Case]:
    """Every case of BBRv3, in the order of the page. `STARTS` are enough for all cases, because BBRv3 varies
    little between starts."""
    return [replace(made, seeds=STARTS) for made in _bbr3()]


def _bbr3() -> Iterator[Case]:
    cca = "bbr3"
    paths = ((2, 40, 1), (10, 100, 1), (20, 40, 1), (50, 20, 0.5), (100, 5, 1), (100, 20, 0.2), (100, 20, 1))
    for rate_mbps, rtt_ms, bdp in (*paths, (200, 50, 1), (500, 10, 1)):
        yield of.single("single flows", cca, rate_mbps, rtt_ms, bdp)
    for bdp in (0.25, 0.5, 2, 8):
        yield of.single("single flows", cca, 20, 40, bdp)
    yield of.transfer("single flows", cca, "1 MB", 20, 40, 1)
    yield of.transfer("single flows", cca, "10 MB", 100, 20, 1)
    for rate_mbps, rtt_ms, bdp in ((20, 40, 0.5), (20, 40, 1), (20, 40, 4), (100, 20, 1)):
        yield of.mix("two flows", [(cca, 2, rtt_ms)], rate_mbps, bdp)
    for rate_mbps, bdp in ((50, 0.5), (50, 1), (20, 4)):
        yield of.mix("four flows", [(cca, 4, 40)], rate_mbps, bdp)
    for rate_mbps, shorter_ms, longer_ms, bdp in ((20, 20, 80, 1), (20, 20, 80, 4), (50, 10, 50, 2)):
        yield of.mix("RTT mixes", [(cca, 1, shorter_ms), (cca, 1, longer_ms)], rate_mbps, bdp)
    for rival, bdps in (("cubic", (0.5, 1, 4)), ("reno", (1, 4)), ("bbr1", (1,))):
        for bdp in bdps:
            yield of.mix("beside others", [(rival, 1, 40), (cca, 1, 40)], 20, bdp)
    yield of.mix("beside others", [("cubic", 2, 20), (cca, 2, 20)], 50, 1)
    yield of.mix("beside others", [("reno", 2, 20), (cca, 2, 20)], 50, 1)
    for percent in (0.1, 1, 2, 4):
        yield of.lossy("loss", cca, 20, 40, percent)
    for kind in ("codel", "fq_codel", "pie", "fq_pie", "cake"):
        yield of.managed("queues", kind, {cca: 1}, 20, 40)
    yield of.managed("queues", "codel", {cca: 4}, 50, 40)
    yield of.managed("queues", "fq_codel", {"cubic": 1, cca: 1}, 20, 40)
    for kind in ("codel", "fq_codel", "pie"):
        yield of.managed("marks", kind, {cca: 1}, 20, 40, ecn=True)
    yield of.managed("marks", "dualpi2", {cca: 1, "cubic": 1}, 50, 20, ecn=True)
    yield of.step("steps", cca, "rate-down", 20, 40, 1, rate="5 Mbit/s")
    yield of.step("steps", cca, "rate-up", 5, 40, 2, rate="20 Mbit/s")
    yield of.step("steps", cca, "delay-up", 20, 40, 1, delay="40 ms")
    yield of.step("steps", cca, "delay-down", 20, 80, 1, delay="10 ms")
    # Three applications: one at a constant rate, one with pauses, and one that is slower than the path at
    # first.
    paces = {
        "constant": [{"at": "0 s", "rate": "5 Mbit/s"}],
        "pauses": [{"at": f"{at} s", **({"rate": "0 bit/s"} if at % 4 else {})} for at in range(0, 25, 2)],
        "late": [{"at": "0 s", "rate": "2 Mbit/s"}, {"at": "12 s"}],
    }
    for word, application in paces.items():
        topology = of.dumbbell(20, 40, of.drop_tail(1))
        flow = {"cca": cca, "application": application}
        yield of.case(f"{cca}-20m-40ms-1bdp-{word}", "application-limited", topology, [flow])


def prague_cases() -> list[Case]:
    """Every case of TCP Prague, in the order of the page."""
    return [replace(made, seeds=STARTS) for made in _prague()]


def _prague() -> Iterator[Case]:
    cca = "prague"
    slow = ((1, 10), (1, 40), (2, 20), (5, 10), (5, 40), (10, 20))
    for rate_mbps, rtt_ms in (*slow, (20, 5), (20, 10), (20, 40), (50, 10), (50, 40), (100, 5), (100, 20)):
        yield of.managed("DualPI2", "dualpi2", {cca: 1}, rate_mbps, rtt_ms, ecn=True)
    alone = {"step": ((5, 20), (20, 20), (50, 10), (50, 40)), "codel": ((20, 20), (50, 10), (50, 40))}
    for queue, paths in alone.items():
        for rate_mbps, rtt_ms in paths:
            yield _marked(f"1x{cca}", queue, [{"cca": cca}], rate_mbps, rtt_ms, family=queue)
    longer = {"cca": cca, "access": {"delay": "15 ms"}}
    yield of.managed("several", "dualpi2", {cca: 2}, 50, 10, ecn=True)
    yield of.managed("several", "dualpi2", {cca: 4}, 50, 20, ecn=True)
    for queue in ("dualpi2", "step"):
        yield _marked(f"2x{cca}-10ms+70ms", queue, [{"cca": cca}, longer], 50, 10, family="several")
    for count, rate_mbps, rtt_ms in ((1, 20, 20), (1, 50, 10), (1, 50, 40), (2, 100, 20)):
        several = {cca: count, "cubic": count}
        yield of.managed("beside CUBIC", "dualpi2", several, rate_mbps, rtt_ms, ecn=True)
    without: list[dict[str, Any]] = [{"cca": cca}, {"cca": "cubic", "tcp": {"ecn": False}}]
    yield _marked(f"1x{cca}+1xcubic-no-ecn", "dualpi2", without, 50, 10, family="beside CUBIC")
    # Paths whose rate or delay changes at 12 s, and a drop-tail queue, which never marks.
    for word, change in (("rate-down", {"rate": "10 Mbit/s"}), ("delay-up", {"delay": "20 ms"})):
        changes = [{"at": "12 s", **change}]
        yield _marked(word, "dualpi2", [{"cca": cca}], 40, 20, family="other paths", changes=changes)
    topology = of.dumbbell(20, 40, of.drop_tail(1))
    yield of.case(f"{cca}-20m-40ms-1bdp", "other paths", topology, [{"cca": cca}], tcp={"ecn": True})


def _marked(
    words: str,
    queue: str,
    flows: Sequence[Mapping[str, Any]],
    rate_mbps: float,
    rtt_ms: float,
    *,
    family: str,
    **more: Any,
) -> Case:
    """Flows behind a queue that marks packets; `more` has further keys of the bottleneck."""
    topology = of.dumbbell(rate_mbps, rtt_ms, _QUEUES[queue], **more)
    name = f"{queue}-{words}-{rate_mbps:g}m-{rtt_ms:g}ms-ecn"
    return of.case(name, family, topology, flows, tcp={"ecn": True})


# Suites by name, their runs on the engines, and further runs of doubtful cases.


START_TIMES = (
    "Results depend on when a flow starts, relative to the kernel's clock tick and to BBR's cycle. So the "
    f"runs of a case have several start times within {START_JITTER}, which are the same in every engine."
)
MEASURED = (
    f"A case lasts {DURATION_S} s, and the first {WARMUP_S} s are not measured. Cases of transfers and "
    "start-up are measured from the start. Any other exception is part of the case's name."
)
HELD_OUT_CASES = (
    "No parameter of the model was fitted to the held-out cases. The model has changed since most "
    "held-out cases first ran, because of results of other cases and suites. One held-out case was "
    "investigated; it moved to the catalogue, and a similar case that had not run yet replaced it."
)


@dataclass(frozen=True)
class Suite:
    """The cases of a page."""

    title: str
    command: str
    """Command that writes the page."""
    cases: Callable[[], list[Case]]
    held_out: Callable[[], list[Case]] = list
    quantities: tuple[ErrorTarget, ...] = QUANTITIES
    starts: str = START_TIMES
    """Text on the start times of runs."""
    measured: str = MEASURED
    """Text on the measured time, and on the choice of cases."""
    kernel: str = ""
    """Text on the kernel of the reference and its build; empty for a released kernel."""
    known: str = ""
    """Text on known differences between engines and the reference."""


LINUX = Suite(
    "Agreement between engines",
    "fullpipe agree",
    cases,
    held_out_cases,
    measured=f"{MEASURED} {HELD_OUT_CASES}",
)
"""Suite against a released kernel."""
SUITES: Mapping[str, Suite] = {
    "linux": LINUX,
    "bbr3": Suite(
        "Agreement with Google's BBRv3",
        "fullpipe agree --suite bbr3",
        bbr3_cases,
        quantities=BBR3_QUANTITIES,
        kernel=BBR3_KERNEL,
        known=BBR3_KNOWN,
    ),
    "prague": Suite(
        "Agreement with Linux's TCP Prague",
        "fullpipe agree --suite prague",
        prague_cases,
        quantities=PRAGUE_QUANTITIES,
        kernel=PRAGUE_KERNEL,
        known=PRAGUE_KNOWN,
    ),
    "transients": Suite(
        "Agreement in transients",
        "fullpipe agree --suite transients",
        transients.tuned_cases,
        transients.held_out_cases,
        quantities=transients.QUANTITIES,
        starts=transients.STARTS,
        measured=transients.MEASURED,
        known=transients.KNOWN,
    ),
}
"""Suites by name. The suites `linux` and `transients` need a released kernel."""


MOST_SEEDS = {"ns3": 1}
"""Maximum number of seeds per engine. One run of ns-3 is enough, because its errors far exceed chance."""


UNFINISHED = "no transfer finished, so the completion time is not compared"


@dataclass(frozen=True, slots=True)
class Refused:
    """A case that an engine did not run or did not finish, and the reason."""

    case: str
    engine: str
    why: str


@dataclass(frozen=True)
class JobList:
    """The jobs to run, and the refused cases."""

    cases: tuple[Case, ...]
    engines: tuple[str, ...]
    """Names of the engines, the reference first."""
    jobs: tuple[Job, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True)
class Found:
    """The results of a suite."""

    cases: tuple[Case, ...]
    engines: tuple[str, ...]
    versions: Mapping[str, str]
    """Versions of the engines."""
    errors: pl.DataFrame
    refused: tuple[Refused, ...]
    suite: Suite = LINUX


def seeds_of(case: Case, engine_name: str) -> range:
    """The seeds of a case on an engine."""
    return range(1, min(case.seeds, MOST_SEEDS.get(engine_name.partition("-")[0], case.seeds)) + 1)


def job_list(cases: Iterable[Case], engines: Sequence[str]) -> JobList:
    """The jobs of the cases, and the refusals.

    A case that the reference, the first engine, refuses is not run on any engine.

    Raises:
        UnknownNameError: If an engine is unknown.
    """
    chosen, used = tuple(cases), {name: engine(name) for name in engines}
    jobs: list[Job] = []
    refused: list[Refused] = []
    for case in chosen:
        no = {name: why for name, made in used.items() if (why := "; ".join(refusals(made, case.scenario)))}
        refused += [Refused(case.name, name, why) for name, why in no.items()]
        runnable = [name for name in engines if name not in no]
        if engines[0] in runnable and len(runnable) > 1:
            jobs += [
                Job(case.scenario, seed, name, {"case": case.name})
                for name in runnable
                for seed in seeds_of(case, name)
            ]
    return JobList(chosen, tuple(engines), tuple(jobs), tuple(refused))


def run(
    todo: JobList,
    suite: Suite = LINUX,
    *,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Found:
    """Run the jobs and compare all engines with the first, in the metrics of the suite.

    If a run fails, its case is left out for the engine that failed.
    """
    by_name, reference = {case.name: case for case in todo.cases}, todo.engines[0]
    frames, refused = [pl.DataFrame(schema=SCHEMA)], list(todo.refused)
    outcomes = stream(todo.jobs, workers=workers, store=store, progress=progress)
    for name, of_case in groupby(outcomes, lambda outcome: str(outcome.job.point["case"])):
        runs, failed = _sorted(name, of_case)
        refused += failed
        refused += [Refused(name, by, UNFINISHED) for by, made in runs.items() if _unfinished(made)]
        if reference in runs and len(runs) > 1:
            frames.append(errors_of(by_name[name], compare(runs, reference), suite.quantities))
    return Found(
        cases=todo.cases,
        engines=todo.engines,
        versions={name: _version(engine(name)) for name in todo.engines},
        errors=pl.concat(frames),
        refused=tuple(refused),
        suite=suite,
    )


def _sorted(case: str, outcomes: Iterable[Outcome]) -> tuple[dict[str, list[Run]], list[Refused]]:
    """Return the runs of a case by engine, without engines with a failed run, and the first failure of each
    failed engine."""
    runs: dict[str, list[Run]] = {}
    failed: dict[str, Refused] = {}
    for outcome in outcomes:
        name = outcome.job.engine
        if outcome.error:
            why = f"failed with seed {outcome.job.seed}: {outcome.error}"
            failed.setdefault(name, Refused(case, name, why))
        else:
            runs.setdefault(name, []).append(outcome.run)
    return {name: made for name, made in runs.items() if name not in failed}, list(failed.values())


def _unfinished(runs: Iterable[Run]) -> bool:
    """Whether there are runs with transfers of which none finished."""
    times = (run.transfers["fct_s"] for run in runs)
    return any(not of_run.is_empty() and of_run.is_null().all() for of_run in times)


def _version(made: Engine) -> str:
    return f"{made.version()}, model {made.model_version()}"


def doubtful(found: Found) -> list[Case]:
    """Return the cases to run again, with the largest number of starts of any case.

    A case is doubtful if the error of the first engine after the reference exceeds its target, whether or not
    the error exceeds chance with the available starts.
    """
    names = set(large(found.errors.filter(engine=found.engines[1]), found.suite.quantities)["case"])
    return [replace(case, seeds=max(case.seeds, CHANCE_STARTS)) for case in found.cases if case.name in names]


def confirmed(found: Found, again: Found) -> Found:
    """Return the results, in which the results of the rerun replace the earlier results of doubtful cases."""
    whole = {case.name: case for case in again.cases}
    cases = tuple(whole.get(case.name, case) for case in found.cases)
    errors = pl.concat([found.errors.filter(~pl.col("case").is_in(list(whole))), again.errors])
    places = {case.name: place for place, case in enumerate(cases)}
    place = pl.col("case").replace_strict(places, return_dtype=pl.Int64)
    refused = [one for one in found.refused if one.case not in whole]
    return replace(
        found,
        cases=cases,
        errors=errors.sort(place, maintain_order=True),
        refused=(*refused, *again.refused),
    )
