"""The study: five buffers, four settings of the sockets, many seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import files
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies import tables
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult
from fullpipe.studies.experiments import Experiment, Measurements, Value, Variants, measured
from fullpipe.studies.kato2025 import figures, measures
from fullpipe.studies.kato2025.table import ALGORITHM, CLIPPED, EXPERIMENT, comparison, table_text
from fullpipe.studies.kato2025.text import BOTH, LARGE, LINUX, NS3_340, PORTED, RECEIVE, cap_text
from fullpipe.studies.plan import Plan, jobs_of
from fullpipe.studies.report import Report, Settings, seeds_of
from fullpipe.studies.tables import by
from fullpipe.studies.text import Aligned
from fullpipe.studies.transcription import of_package
from fullpipe.sweeps import Job

transcription = of_package(__package__)

PORTED_CODE = "ported code"
BUFFERS = (100, 500, 1000, 2000, 5000)
SMALL = BUFFERS[0]
"""Buffer of the runs with pacing rates, in packets."""
SOCKET_BYTES = 1 << 20
ONE_MIB = {"tcp.send_buffer": "1 MiB", "tcp.receive_buffer": "1 MiB"}
SWITCHES = Scenario.named("kato2025-ablation").points()[-1]
"""Four behaviours of ns-3 3.40's transport; see docs/explanation/why-ns3-versions-differ.md."""
HOST = {"tcp.sack_compression": False, "tcp.max_burst": "off"}
"""Hosts of ns-3: no SACK compression and no segmentation offload."""
SOCKETS: Mapping[Value, Mapping[str, Any]] = {
    LARGE: {},
    BOTH: ONE_MIB,
    RECEIVE: {"tcp.receive_buffer": "1 MiB"},
    NS3_340: {**ONE_MIB, **HOST, **SWITCHES},
}
READINGS = (BOTH, LARGE, RECEIVE, NS3_340)
"""Settings of the socket buffers, which the paper does not print.

The first one counts, the buffers of ns-3's scripts: 1 MiB at both ends. The levels of Figs. 4 and 6 follow
from a window of 1 MiB. It was chosen after the first three had been run. The last setting has the behaviours
of the paper's simulator, which the paper does not state."""
IN_PORTED_FILES = "tcp.invalid_rate_samples"
"""The behaviour of `SWITCHES` in the ported files: BBR judges rate samples. The other three are in the
transmit buffer and the rate sampler."""
TRANSPORTS: Mapping[Value, Mapping[str, Any]] = {
    NS3_340: SOCKETS[NS3_340],
    PORTED: {key: value for key, value in SOCKETS[NS3_340].items() if key != IN_PORTED_FILES},
    LINUX: {**ONE_MIB, **HOST},
}
"""Transports of Fig. 9: ns-3 3.40, 3.40 with BBR and socket code of 3.44, and one without any switch."""
SAMPLING = "20 ms"

REMARKS = ". Pacing rates are those of the median flow of each run."
SEEDS = 10
QUICK_SEEDS = 3


def experiment() -> Experiment:
    """Return the experiment with every buffer and setting of the sockets; the smallest buffer is sampled."""
    buffers: Variants = {
        packets: {
            "topology.bottleneck.queue.packets": packets,
            "record.interval": SAMPLING if packets == SMALL else "off",
        }
        for packets in BUFFERS
    }
    variants = {"sockets": SOCKETS, "buffer": buffers}
    return Experiment(EXPERIMENT, Scenario.named("kato2025"), {}, measures.of_run, variants, flows=())


def ported() -> Experiment:
    """Return the experiment with the smallest buffer and the transport of ns-3 3.40, parts of it, or none."""
    at_smallest = {"topology.bottleneck.queue.packets": SMALL, "record.interval": SAMPLING}
    transports = {name: {**values, **at_smallest} for name, values in TRANSPORTS.items()}
    scenario = Scenario.named("kato2025")
    return Experiment(PORTED_CODE, scenario, {}, measures.of_run, {"transport": transports}, flows=())


def plan(*, quick: bool) -> Plan:
    """Return both experiments; the quick form only has fewer seeds."""
    del quick
    return [(experiment(), {ALGORITHM: None}), (ported(), {ALGORITHM: None})]


def jobs(settings: Settings) -> list[Job]:
    """Return every run of the study."""
    return jobs_of(plan(quick=settings.quick), settings.seeds_or(SEEDS, QUICK_SEEDS))


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker of claims under every setting of the sockets."""
    return ClaimChecker(found, READINGS, key="sockets")


def check_claims(found: Measurements) -> list[ClaimResult]:
    """Check every claim under every setting of the sockets."""
    return checker(found).check_all(transcription().claims)


def run(settings: Settings, todo: Sequence[Job]) -> Report:
    """Run the jobs that are not stored yet, and write tables, verdicts and figures."""
    runs = settings.run(todo)
    found = measured([experiment(), ported()], todo, runs)
    beside, checked = comparison(transcription(), found), check_claims(found)
    written = _write_table(settings.folder, by(settings.engine, beside))
    written += tables.write(settings, found, checked, seeds_of(todo), _columns)
    drawn = [(job, made) for job, made in zip(todo, runs, strict=True) if made and "sockets" in job.point]
    written += figures.draw(_flows(drawn), _sampled(drawn), settings.folder, small=SMALL)
    settings_of = [sockets for sockets in map(str, SOCKETS) if sockets in beside["sockets"]]
    sections: list[str | Aligned] = ["Table II:", _how(seeds_of(todo)), table_text(beside, settings_of)]
    sections.append(cap_text(found, SOCKET_BYTES, SMALL))
    told = tables.report(transcription(), checked, seeds_of(todo), REMARKS, sections=sections)
    return Report(told, tuple(written), settings.folder)


def _how(runs: int) -> str:
    return (
        f"Printed values of ns-3 3.40 and 3.44, and ours as the mean over {tables.counted(runs)}"
        + (" with its 95 % interval" if runs > 1 else "")
        + ". In brackets: follows from printed numbers. Goodput is payload delivered over 50 s; flows start "
        "within the first 10 ms, at a time drawn from the seed. Standard deviations are those of a sample."
        + (f" {CLIPPED}" if runs > 1 else "")
    )


def _columns(table: pl.DataFrame) -> pl.DataFrame:
    """Add two columns to the verdicts: the simulator of the printed number, and the setting as `sockets`."""
    simulators = pl.DataFrame(
        [(c.id, c.simulator) for c in transcription().claims], ["where", "simulator"], orient="row"
    )
    return table.join(simulators, on="where", maintain_order="left").with_columns(sockets=pl.col("reading"))


def _flows(runs: Sequence[tuple[Job, Run]]) -> pl.DataFrame:
    frames = [
        run.flows.select(
            pl.lit(job.point["buffer"], pl.Int64).alias("buffer"),
            pl.lit(job.point["sockets"]).alias("sockets"),
            pl.lit(job.seed, pl.Int64).alias("seed"),
            "flow",
            "goodput_bps",
        )
        for job, run in runs
    ]
    return pl.concat(frames)


def _sampled(runs: Sequence[tuple[Job, Run]]) -> figures.Recorded:
    """Return the tables of the first sampled run of every setting of the sockets."""
    found: dict[str, Mapping[str, pl.DataFrame]] = {}
    for job, run in runs:
        if job.point["buffer"] == SMALL:
            found.setdefault(job.point["sockets"], run.tables)
    return found


def _write_table(folder: Path, beside: pl.DataFrame) -> list[Path]:
    files.make_folder(folder)
    csv, table = folder / "table-2.csv", folder / "table-2.json"
    files.write_csv(csv, beside)
    files.write(table, (json.dumps(beside.to_dicts(), indent=1) + "\n").encode())
    return [csv, table]
