"""Sixteen BBR flows on 1 Gbit/s with small buffers: Kato et al., AFIN 2025."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import files
from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies import tables
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Experiment, Measurements, Value, Variants, measured
from fullpipe.studies.kato2025 import measures
from fullpipe.studies.report import Report, Settings, seeds_of
from fullpipe.studies.study import Plan, Transcription, jobs_of, of_package
from fullpipe.studies.tables import by
from fullpipe.studies.text import Aligned, interval_of
from fullpipe.sweeps import Job

__all__ = ["checker", "jobs", "plan", "run", "transcription"]


# Table II of the paper, with the printed numbers and our numbers.


FLOWS = 16
SIGNS = {"above": ">", "below": "<", "at_least": "≥", "at_most": "≤"}
ALGORITHM, EXPERIMENT = "BBRv1", "sixteen flows"
ROWS = {
    "mean_mbps": "mean",
    "sd_mbps": "std dev",
    "total_mbps": "total",
    "below_1": "flows < 1 Mbit/s",
    "jain": "Jain",
}
CLIPPED = (
    "Intervals are truncated at the bounds of a quantity: Jain's index at 1/n and 1, numbers of flows at 0 "
    "and n, all other quantities at 0."
)
TABLE_SCHEMA = {
    "buffer_packets": pl.Int64,
    "quantity": pl.String,
    "printed_ns3_3_40": pl.String,
    "printed_ns3_3_44": pl.String,
    "sockets": pl.String,
    "runs": pl.Int64,
    "ours": pl.Float64,
    "ours_low": pl.Float64,
    "ours_high": pl.Float64,
}


def comparison(source: Transcription, found: Measurements) -> pl.DataFrame:
    """Return printed and our values, with one row per buffer, quantity and setting of the socket buffers.

    `CLIPPED` says how intervals are truncated.
    """
    rows = []
    for buffer in found.choices(EXPERIMENT, "buffer"):
        for quantity in ROWS:
            theirs = [printed_cell(source, int(buffer), quantity, f"ns-3 {v}") for v in ("3.40", "3.44")]
            for sockets in found.choices(EXPERIMENT, "sockets"):
                where = {"buffer": buffer, "sockets": sockets}
                values = found.at(EXPERIMENT, quantity, ALGORITHM, where)
                if values:
                    ours = (len(values), *_interval(values, quantity))
                    rows.append((buffer, quantity, *theirs, sockets, *ours))
    return pl.DataFrame(rows, schema=TABLE_SCHEMA, orient="row")


def printed_cell(source: Transcription, buffer: int, quantity: str, simulator: str) -> str:
    """Return the printed value, or "" if the paper prints none. Jain's index of ns-3 3.40, which is computed
    from other printed numbers, is in brackets."""
    if (quantity, simulator) == ("jain", "ns-3 3.40"):
        mean, sd = (_printed(source, buffer, name, simulator) for name in ("mean_mbps", "sd_mbps"))
        assert mean
        assert sd
        assert mean.between
        assert sd.between
        return f"({jain(mean.between.middle, sd.between.middle):.2f})"
    claim = _printed(source, buffer, quantity, simulator)
    return "" if claim is None else _cell(claim)


def jain(mean: float, sd: float) -> float:
    """Compute Jain's index of n flows from their mean m and sample standard deviation s: 1 / (1 + s² (n-1)/n
    / m²)."""
    return 1 / (1 + sd**2 * (FLOWS - 1) / FLOWS / mean**2)


def table_text(comparison: pl.DataFrame, sockets: Sequence[str]) -> Aligned:
    """Return Table II with the printed values and our values. Rates are in Mbit/s."""
    header = ["buffer", "Mbit/s", "3.40", "3.44", *(f"ours, {name}" for name in sockets)]
    rows = [header]
    for (buffer, quantity), group in comparison.group_by("buffer_packets", "quantity", maintain_order=True):
        cells = {row["sockets"]: _ours(row, str(quantity)) for row in group.iter_rows(named=True)}
        first = group.row(0, named=True)
        packets = f"{buffer} packets" if quantity == next(iter(ROWS)) else ""
        theirs = [first["printed_ns3_3_40"], first["printed_ns3_3_44"]]
        rows.append([packets, ROWS[str(quantity)], *theirs, *(cells.get(name, "") for name in sockets)])
    return Aligned(rows, right=range(2, len(header)))


def _printed(source: Transcription, buffer: int, quantity: str, simulator: str) -> Claim | None:
    key = (buffer, quantity, simulator)
    found = [c for c in source.claims if (c.where.get("buffer"), c.quantity, c.simulator) == key]
    return found[0] if found else None


def _cell(claim: Claim) -> str:
    if claim.between is None:
        return ", ".join(f"{SIGNS[bound]} {value:g}" for bound, value in claim.what.items())
    low, high, middle = claim.between.low, claim.between.high, claim.between.middle
    if claim.unit == "flows":
        return f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}"
    return f"{middle:.1f}" if high - low < 1 else f"~{middle:.0f}"


def _interval(values: Sequence[float], quantity: str) -> tuple[float, float | None, float | None]:
    """Return our mean and its 95 % interval, truncated at the bounds of the quantity."""
    mean, found = sum(values) / len(values), interval_of(quantity, values)
    if found is None:
        return mean, None, None
    limits = {"jain": (1 / FLOWS, 1.0), "below_1": (0.0, float(FLOWS))}
    within = found.clipped(*limits.get(quantity, NO_LESS_THAN_0))
    return mean, within.low, within.high


def _ours(row: dict[str, float], quantity: str) -> str:
    digits = 3 if quantity == "jain" else 1
    mean = f"{row['ours']:.{digits}f}"
    if row["ours_low"] is None:
        return mean
    return f"{mean} [{row['ours_low']:.{digits}f}, {row['ours_high']:.{digits}f}]"


# The paragraph of the report about socket buffers.


MIB = 1 << 20
RTT_S = 0.12

LARGE, BOTH, RECEIVE = "large", "1 MiB both", "1 MiB receive"
"""Settings of the socket buffers: never limiting, 1 MiB for the send and the receive buffer, or 1 MiB only
for the receive buffer."""
NS3_340, PORTED, LINUX = "ns-3 3.40", "ported", "Linux"
"""Settings with socket buffers of 1 MiB. `NS3_340` has four behaviours of ns-3 3.40's transport, `PORTED`
only the three behaviours in files that the authors did not port, and `LINUX` none."""


def cap_text(found: Measurements, socket_bytes: int, buffer: int) -> str:
    """Return a paragraph about the effect of a limited socket buffer, with our numbers for one size of the
    bottleneck's buffer."""
    cap = 8e-6 * socket_bytes / RTT_S
    low, high = (f"{count * cap:.0f}" for count in (9, 10))

    def mean(sockets: str, quantity: str) -> str:
        values = found.at(EXPERIMENT, quantity, ALGORITHM, {"buffer": buffer, "sockets": sockets})
        return f"{sum(values) / len(values):.0f}" if values else "?"

    return (
        f"A socket buffer of {socket_bytes / MIB:g} MiB lets a flow have that much in flight, so over "
        f"{RTT_S * 1e3:g} ms none can exceed {cap:.1f} Mbit/s, and BBR's upper pacing level is 1.25 "
        f"times that, {1.25 * cap:.0f} Mbit/s: the ceiling of Fig. 4. Nine or ten flows that live under that "
        f"cap move at most {low} to {high} Mbit/s, which is the printed 60 %: the cap and the number of "
        f"starved flows bound those totals, not BBR, which at {buffer} packets moves "
        f"{mean(LARGE, 'total_mbps')} Mbit/s here with large sockets and {mean(RECEIVE, 'total_mbps')} with "
        f"a receive buffer of 1 MiB. A send buffer of 1 MiB does more: the sender looks idle, so "
        f"BBR ignores low samples, as Linux has it, keeps pacing bursts at a stale rate (a median of "
        f"{mean(BOTH, 'pacing_cruise')} Mbit/s) and moves {mean(BOTH, 'total_mbps')} Mbit/s."
    )


# The study: five buffers of the bottleneck, and four settings of the socket buffers.


transcription = of_package(__package__)

PORTED_CODE = "ported code"
BUFFERS = (100, 500, 1000, 2000, 5000)
SMALL = BUFFERS[0]
"""Buffer of the bottleneck, in packets, in runs whose pacing rates are sampled."""
SOCKET_BYTES = 1 << 20
ONE_MIB = {"tcp.send_buffer": "1 MiB", "tcp.receive_buffer": "1 MiB"}
SWITCHES = Scenario.named("kato2025-ablation").points()[-1]
"""Four behaviours of ns-3 3.40's transport. docs/explanation/why-ns3-versions-differ.md describes them."""
HOST = {"tcp.sack_compression": False, "tcp.max_burst": "off"}
"""Settings of hosts as in ns-3: no SACK compression and no segmentation offload."""
SOCKETS: Mapping[Value, Mapping[str, Any]] = {
    LARGE: {},
    BOTH: ONE_MIB,
    RECEIVE: {"tcp.receive_buffer": "1 MiB"},
    NS3_340: {**ONE_MIB, **HOST, **SWITCHES},
}
READINGS = (BOTH, LARGE, RECEIVE, NS3_340)
"""Settings of the socket buffers, which the paper does not print.

Only verdicts under the first setting are counted: send and receive buffers of 1 MiB, as in scripts for ns-3.
The levels of the pacing rate in Figs. 4 and 6 follow from a window of 1 MiB. We chose the setting that counts
after we had run the first three settings. The last setting also has behaviours of the paper's simulator that
the paper does not state."""
IN_PORTED_FILES = "tcp.invalid_rate_samples"
"""The only behaviour in `SWITCHES` that is in the ported files: whether BBR uses invalid rate samples. The
other three behaviours are in the transmit buffer and the rate sampler."""
TRANSPORTS: Mapping[Value, Mapping[str, Any]] = {
    NS3_340: SOCKETS[NS3_340],
    PORTED: {key: value for key, value in SOCKETS[NS3_340].items() if key != IN_PORTED_FILES},
    LINUX: {**ONE_MIB, **HOST},
}
"""Transports of Fig. 9: ns-3 3.40, ns-3 3.40 with the BBR and socket code of 3.44, and a transport without
the behaviours in `SWITCHES`."""
SAMPLING = "20 ms"

REMARKS = ". Pacing rates are those of the median flow of each run."
SEEDS = 10
QUICK_SEEDS = 3


def experiment() -> Experiment:
    """Return the experiment with every buffer and every setting of the socket buffers. Only runs with the
    smallest buffer record samples."""
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
    """Return the experiment with the smallest buffer and the three transports of Fig. 9."""
    at_smallest = {"topology.bottleneck.queue.packets": SMALL, "record.interval": SAMPLING}
    transports = {name: {**values, **at_smallest} for name, values in TRANSPORTS.items()}
    scenario = Scenario.named("kato2025")
    return Experiment(PORTED_CODE, scenario, {}, measures.of_run, {"transport": transports}, flows=())


def plan(*, quick: bool) -> Plan:
    """Return the plan of the two experiments. The quick form differs only in having fewer seeds."""
    del quick
    return [(experiment(), {ALGORITHM: None}), (ported(), {ALGORITHM: None})]


def jobs(settings: Settings) -> list[Job]:
    """Return the jobs of all runs of the study."""
    return jobs_of(plan(quick=settings.quick), settings.seeds_or(SEEDS, QUICK_SEEDS))


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker that checks the claims under every setting of the socket buffers."""
    return ClaimChecker(found, READINGS, key="sockets")


def check_claims(found: Measurements) -> list[ClaimResult]:
    """Check every claim under every setting of the socket buffers."""
    return checker(found).check_all(transcription().claims)


def run(settings: Settings, todo: Sequence[Job]) -> Report:
    """Run the jobs that are not stored yet, and write tables, verdicts and figures."""
    runs = settings.run(todo)
    found = measured([experiment(), ported()], todo, runs)
    beside, checked = comparison(transcription(), found), check_claims(found)
    written = _write_table(settings.folder, by(settings.engine, beside))
    written += tables.write(settings, found, checked, seeds_of(todo), _columns)
    drawn = [(job, made) for job, made in zip(todo, runs, strict=True) if made and "sockets" in job.point]
    written += measures.draw(_flows(drawn), _sampled(drawn), settings.folder, small=SMALL)
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
    """Add two columns to the verdicts: the simulator of the printed number, and the setting of the socket
    buffers."""
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


def _sampled(runs: Sequence[tuple[Job, Run]]) -> measures.Recorded:
    """Return the tables of the first sampled run for every setting of the socket buffers."""
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
