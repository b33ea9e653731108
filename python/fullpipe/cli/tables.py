"""Runs as tables on a terminal."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
from rich.console import Console

from fullpipe.analysis.metrics import (
    bulk_flows,
    call_scores,
    completion_percentiles_s,
    connections,
    datagrams,
    jain_among,
    measured_transfers,
    shaper_utilisation,
    total_goodput_bps,
)
from fullpipe.analysis.metrics.groups import flow_directions
from fullpipe.analysis.metrics.shapers import shaper_bps
from fullpipe.analysis.subjects import Subject
from fullpipe.cli import forms, summary
from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.forms import Form
from fullpipe.cli.jobs import warn_of_short
from fullpipe.cli.output import complain
from fullpipe.cli.shown import number_shown
from fullpipe.runs import Run
from fullpipe.sweeps import Outcome

_MOST_ROWS = 40
_MOST_LINES_OF_TRANSFERS = 10
_RTTS = {"rtt_min": "RTT min", "rtt_mean": "RTT mean", "rtt_p95": "RTT p95"}
_LIMITS = ("cwnd", "pacing", "application", "receiver", "send_buffer")


def show(outcomes: Sequence[Outcome], metrics: Sequence[str] | None = None, form: Form = Form.TABLE) -> None:
    """Print one run in full, or, of several, or if metrics are named, a row per point and group of flows."""
    console = terminal()
    if len(outcomes) == 1 and not metrics and form == Form.TABLE:
        _one(console, outcomes[0].run)
    elif outcomes:
        _many(console, outcomes, metrics, form)
    for folder in _folders(outcomes) if form == Form.TABLE else ():
        console.print(folder, soft_wrap=True)


def _one(console: Console, run: Run) -> None:
    meta, warmup_s = run.meta, run.scenario.warmup_s
    measured = f" without the first {warmup_s:g} s (warm-up)" if warmup_s else ""
    about = f", {meta.duration_s:g} s{measured}, seed {meta.seed}, engine {meta.engine.name}"
    console.print(led(run.name, "bold", about))
    if not connections(run.flows).is_empty():
        console.print(_flows(run))
        for line in _otherwise(run):
            console.print(line, soft_wrap=True)
    if not datagrams(run.flows).is_empty():
        console.print(_datagrams(run))
    if not run.transfers.is_empty():
        console.print(_transfers(run))
    if not run.videos.is_empty():
        console.print(_videos(run))
    console.print(_links(run.links_summary))
    for line in _shapers(run):
        console.print(styled(line, "dim"), soft_wrap=True)
    for line in _totals(run):
        console.print(line)
    warn_of_short([{}], [run])
    everything = ", those of the warm-up included," if warmup_s else ""
    console.print(f"{meta.data_packets:,} data packets{everything} in {meta.wall_s:.2f} s")


def _totals(run: Run) -> Iterator[str]:
    """Goodput and fairness of all flows; of downloads and of uploads if there are both."""
    for name, flows in (flow_directions(run) or {"total": run.flows["flow"].to_list()}).items():
        own = pl.col("flow").is_in(flows)
        goodput = f"{name} {_mbps(total_goodput_bps(run.flows.filter(own)))} Mbit/s"
        yield ", ".join([goodput, *_fairness(run, bulk_flows(run).filter(own))])


def _fairness(run: Run, bulk: pl.DataFrame) -> list[str]:
    """Jain's index and what it is of, if there are flows that share."""
    index = jain_among(bulk)
    spans = bulk.select(pl.max_horizontal("start_s", pl.lit(run.scenario.warmup_s)), "end_s")
    own_time = ", each over its own time" if spans.n_unique() > 1 else ""
    return [] if index is None else [f"Jain {index:.3f} of {bulk.height} bulk flows{own_time}"]


def _otherwise(run: Run) -> Iterator[Any]:
    """What is to be said of the columns of connections that are something else than they seem."""
    shown = {key: run.meta.otherwise.get(f"flows.{key}_s") for key in _RTTS}
    for why in dict.fromkeys(why for why in shown.values() if why):
        columns = [_RTTS[key] for key in shown if shown[key] == why]
        yield styled(f"{', '.join(columns)} of {run.meta.engine.name}: {why}", "dim")


def _transfers(run: Run) -> Any:
    """Completion times of what began after the warm-up: a line for each of a few flows, and one for all."""
    made = table("transfers", "began", "finished", "unfinished", "mean\nms", "p50\nms", "p95\nms", "p99\nms")
    transfers = measured_transfers(run)
    of_flows = completion_percentiles_s(transfers, by="flow")
    if 1 < of_flows.height <= _MOST_LINES_OF_TRANSFERS:
        for row in of_flows.iter_rows(named=True):
            made.add_row(row["flow"], *_completion(row))
    made.add_row("all", *_completion(completion_percentiles_s(transfers).row(0, named=True)))
    return made


def _completion(row: dict[str, Any]) -> list[str]:
    counts = (row["finished"] + row["unfinished"], row["finished"], row["unfinished"])
    return [*map(_number, counts), *(_ms(row[f"{key}_s"]) for key in ("mean", "p50", "p95", "p99"))]


def _videos(run: Run) -> Any:
    videos = run.videos
    name = "video (with\nthe warm-up)" if run.scenario.warmup_s else "video"
    made = table(
        name, "startup\ns", "played\ns", "stalled\ns", "stalls", "bit rate\nMbit/s", "switches", "pieces"
    )
    for row in videos.head(_MOST_ROWS).iter_rows(named=True):
        made.add_row(
            row["flow"],
            *(_number(row[key], 2) for key in ("startup_s", "played_s", "stalled_s")),
            _number(row["stalls"]),
            _mbps(row["bitrate_bps"]),
            *(_number(row[key]) for key in ("switches", "chunks")),
        )
    if videos.height > _MOST_ROWS:
        made.add_row(f"and {videos.height - _MOST_ROWS} more")
    return made


def _flows(run: Run) -> Any:
    flows = connections(run.flows)
    made = table(
        "flow",
        "goodput\nMbit/s",
        "wire\nMbit/s",
        "sent",
        "retrans-\nmitted",
        "RTT min\nms",
        "mean\nms",
        "p95\nms",
        last="limited by\n% of time",
    )
    for row in flows.head(_MOST_ROWS).iter_rows(named=True):
        made.add_row(
            row["flow"],
            *(_mbps(row[key]) for key in ("goodput_bps", "wire_bps")),
            *(_number(row[key]) for key in ("sent_packets", "retransmitted_packets")),
            *(_ms(row[key]) for key in ("rtt_min_s", "rtt_mean_s", "rtt_p95_s")),
            _limits(row),
        )
    if flows.height > _MOST_ROWS:
        made.add_row(f"and {flows.height - _MOST_ROWS} more")
    return made


def _datagrams(run: Run) -> Any:
    """Flows without congestion control. A call has an opinion score."""
    scores = call_scores(run)
    made = table(
        "datagrams",
        "goodput\nMbit/s",
        "sent",
        "lost\n%",
        "RTT p50\nms",
        "p95\nms",
        "one-way p50\nms",
        "p95\nms",
        "jitter\nms",
        "MOS",
    )
    rows = datagrams(run.flows)
    for row in rows.head(_MOST_ROWS).iter_rows(named=True):
        made.add_row(
            row["flow"],
            _number(row["goodput_bps"] and row["goodput_bps"] / 1e6, 3),
            _number(row["sent_packets"]),
            _number(100 * row["lost_packets"] / row["sent_packets"] if row["sent_packets"] else None, 2),
            *(_ms(row[key]) for key in ("rtt_p50_s", "rtt_p95_s", "owd_p50_s", "owd_p95_s", "jitter_s")),
            number_shown(scores.get(row["flow"]), "1", "call_score"),
        )
    if rows.height > _MOST_ROWS:
        made.add_row(f"and {rows.height - _MOST_ROWS} more")
    return made


def _limits(row: dict[str, float | None]) -> str:
    """The two largest shares of time, in words, and what the application lost at a full send buffer."""
    shares = sorted(((row[f"limited_{limit}"] or 0.0, limit) for limit in _LIMITS), reverse=True)
    found = [f"{limit.replace('_', ' ')} {100 * share:.0f}" for share, limit in shares[:2] if share >= 0.005]
    refused = row["refused_bytes"]
    return ", ".join([*found, f"{refused / 1e6:,.1f} MB refused"] if refused else found)


def _links(links: pl.DataFrame) -> Any:
    """Links that did something worth a line: they dropped, marked, or made packets wait."""
    made = table("link", "dropped", "marked", "used\n%", "wait mean\nms", "p95\nms", "backlog max\npackets")
    for row in _busy(links).iter_rows(named=True):
        made.add_row(
            row["link"],
            _number(row["dropped_packets"]),
            _number(row["marked_packets"]),
            _number(None if row["utilisation"] is None else 100 * row["utilisation"], 1),
            _ms(row["sojourn_mean_s"]),
            _ms(row["sojourn_p95_s"]),
            _number(row["backlog_max_packets"]),
        )
    return made


def _busy(links: pl.DataFrame) -> pl.DataFrame:
    """The first of the links that dropped, marked, or made packets wait."""
    busy = (pl.col("dropped_packets") + pl.col("marked_packets") > 0) | (pl.col("backlog_max_packets") > 1)
    return links.filter(busy).head(_MOST_ROWS)


def _shapers(run: Run) -> Iterator[str]:
    """What queues leave of the rate of their link, and how much of that is used."""
    for row in _busy(run.links_summary).iter_rows(named=True):
        rate_bps, used = shaper_bps(run, row["link"]), shaper_utilisation(run, row)
        if rate_bps is not None and used is not None:
            rate = f"{_mbps(rate_bps)} Mbit/s"
            yield f"{row['link']}: its queue leaves {rate}, of which {100 * used:.1f} % are used"


def _many(console: Console, outcomes: Sequence[Outcome], metrics: Sequence[str] | None, form: Form) -> None:
    first = outcomes[0]
    subjects = [Subject.read(text) for text in metrics or ()]
    found, modes = summary.summary_of([(outcome.job.point, outcome.run) for outcome in outcomes], subjects)
    metrics = list(dict.fromkeys(each.metric for each in subjects))
    if form == Form.TABLE:
        seeds = len({outcome.job.seed for outcome in outcomes})
        over = f", means of {seeds} seeds [95 % intervals]" if seeds > 1 else ""
        about = f", {first.run.meta.duration_s:g} s, engine {first.run.meta.engine.name}{over}"
        console.print(led(first.run.name, "bold", about))
    shown, once = summary.shortened(found) if form == Form.TABLE and not metrics else (found, [])
    forms.show(summary.grid(shown, metrics, form), form)
    told = [*once, *summary.jain_is_of(found), *summary.cut(shown, metrics), *modes]
    told += summary.leaves_out([outcome.run for outcome in outcomes], shown, metrics)
    for line in told if form == Form.TABLE else ():
        console.print(styled(line, "dim"), soft_wrap=True)
    for note in summary.equal_seeds(found, first.job.scenario):
        complain(note)
    warn_of_short([outcome.job.point for outcome in outcomes], [outcome.run for outcome in outcomes])


def _folders(outcomes: Sequence[Outcome]) -> list[str]:
    folders = [outcome.run.folder for outcome in outcomes if outcome.run.folder]
    if not folders:
        return []
    return [f"kept in {folders[0]}" if len(folders) == 1 else f"kept in {folders[0].parent.parent}"]


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _mbps(value: float | None) -> str:
    return _number(None if value is None else value / 1e6, 2)


def _ms(value: float | None) -> str:
    return _number(None if value is None else value * 1e3, 2)
