"""Runs the study: five buffers, three settings of the socket buffers, many seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import engines
from fullpipe.papers.kato2025 import figures, measures, text
from fullpipe.papers.kato2025.printed import Paper, paper
from fullpipe.papers.kato2025.table import CLIPPED, Ours, comparison, verdicts
from fullpipe.papers.kato2025.text import BOTH, LARGE, RECEIVE
from fullpipe.papers.report import Report, Settings
from fullpipe.papers.tables import by
from fullpipe.papers.text import wrapped
from fullpipe.results import Run
from fullpipe.scenario import Scenario
from fullpipe.sweeps import Job

BUFFER = "topology.bottleneck.queue.packets"
SOCKET_BYTES = 1 << 20
SOCKETS: dict[str, dict[str, Any]] = {
    LARGE: {},
    BOTH: {"tcp.send_buffer": "1 MiB", "tcp.receive_buffer": "1 MiB"},
    RECEIVE: {"tcp.receive_buffer": "1 MiB"},
}
SAMPLING = "20 ms"

SEEDS = 10
QUICK_SEEDS = 3


def jobs(settings: Settings) -> list[Job]:
    """Every run of the study."""
    summaries, recorded = _jobs(paper(), settings.seeds_or(SEEDS, QUICK_SEEDS))
    return [*summaries, *recorded.values()]


def run(settings: Settings) -> Report:
    """Run what is missing, and write tables, verdicts and figures."""
    source = paper()
    chosen = settings.seeds_or(SEEDS, QUICK_SEEDS)
    summaries, recorded = _jobs(source, chosen)
    runs = settings.run([*summaries, *recorded.values()])
    flows = _flows(summaries, runs)
    sampled = zip(recorded, runs[len(summaries) :], strict=True)
    tables = {sockets: run.tables for sockets, run in sampled if run is not None}
    pacing = {sockets: measures.pacing_levels(found["series"]) for sockets, found in tables.items()}
    ours = Ours.of(measures.per_run(flows, source.capacity_mbps), pacing, source.buffers[0])

    beside = comparison(source, ours)
    judged = verdicts(source, ours, engines.ENGINES)
    written = _write_tables(settings.folder, by(settings.engine, beside), by(settings.engine, judged))
    written += figures.draw(flows, tables, settings.folder, small=source.buffers[0])
    return Report(_text(source, beside, judged, ours, len(chosen)), tuple(written), settings.folder)


def _jobs(source: Paper, seeds: Sequence[int]) -> tuple[list[Job], dict[str, Job]]:
    """Runs that keep summaries only, and one sampled run per setting of the sockets, at the smallest one."""
    base = Scenario.named("kato2025")
    summaries = []
    for sockets, values in SOCKETS.items():
        for buffer in source.buffers:
            scenario = base.with_values({BUFFER: buffer, "record.interval": "off", **values})
            point = {"sockets": sockets, "buffer": buffer}
            summaries += [Job(scenario, seed, point=point) for seed in seeds]
    recorded = {}
    for sockets, values in SOCKETS.items():
        scenario = base.with_values({BUFFER: source.buffers[0], "record.interval": SAMPLING, **values})
        recorded[sockets] = Job(scenario, seeds[0], point={"sockets": sockets, "buffer": source.buffers[0]})
    return summaries, recorded


def _flows(jobs: Sequence[Job], runs: Sequence[Run | None]) -> pl.DataFrame:
    frames = [
        run.flows.select(
            pl.lit(job.point["buffer"], pl.Int64).alias("buffer"),
            pl.lit(job.point["sockets"]).alias("sockets"),
            pl.lit(job.seed, pl.Int64).alias("seed"),
            "flow",
            "goodput_bps",
        )
        for job, run in zip(jobs, runs, strict=False)
        if run is not None
    ]
    return pl.concat(frames)


def _write_tables(folder: Path, beside: pl.DataFrame, judged: pl.DataFrame) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    csv, table, opinions = (folder / name for name in ("table-2.csv", "table-2.json", "verdicts.csv"))
    beside.write_csv(csv, float_precision=6)
    table.write_text(json.dumps(beside.to_dicts(), indent=1) + "\n", encoding="utf-8")
    judged.write_csv(opinions, float_precision=6)
    return [csv, table, opinions]


def _text(source: Paper, beside: pl.DataFrame, judged: pl.DataFrame, ours: Ours, runs: int) -> str:
    settings = [sockets for sockets in SOCKETS if sockets in ours.sockets]
    how = wrapped(
        f"Table II: printed values of ns-3 3.40 and 3.44, and ours as the mean over {runs} seeds"
        + (" with its 95 % interval" if runs > 1 else "")
        + ". In brackets: follows from printed numbers. Goodput is payload delivered over 50 s; flows start "
        "within the first 10 ms, at a time drawn from the seed. Standard deviations are those of a sample."
        + (f" {CLIPPED}" if runs > 1 else "")
    )
    parts = [
        source.title,
        how,
        text.table_text(beside, settings),
        "Every printed number and claim, with our value and the verdict:",
        text.verdict_text(judged, settings),
        wrapped(text.cap_text(source, ours, SOCKET_BYTES)),
    ]
    return "\n\n".join(parts)
