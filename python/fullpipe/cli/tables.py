"""Printing of finished runs: one run in full, or a table with a row per sweep point and group of flows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from fullpipe.analysis.length import shortfall
from fullpipe.analysis.metrics.groups import (
    bulk_names,
    flow_directions,
    flows_in,
    shaper_bps,
    shaper_utilisation,
)
from fullpipe.analysis.metrics.samples import compared
from fullpipe.analysis.metrics.throughput import jain_of_some
from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.output import complain
from fullpipe.runs.spans import rows_together_bps, span_of
from fullpipe.scenario.labels import Labels
from fullpipe.sweeps import Outcome

if TYPE_CHECKING:
    from fullpipe.runs import Run


def show(
    outcomes: Sequence[Outcome],
    metrics: Sequence[str] | None = None,
    form: str = "table",
    also: Sequence[str] = (),
    *,
    all_rows: bool = False,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Print one run in full. For several runs, or with `metrics`, print a conclusion and a table.

    The table has a row per sweep point and group of flows; without `all_rows`, only the first rows.
    """
    if len(outcomes) == 1 and not metrics and not also and form == "table":
        show_run(outcomes[0].run, all_rows=all_rows, labels=labels)
    elif outcomes:
        from fullpipe.cli.summary import show_points  # imported here, as one run needs no data frames

        show_points(outcomes, metrics, form, also, all_rows=all_rows, labels=labels)
    if form == "table":
        from fullpipe.cli.console import terminal

        for folder in _folders(outcomes):
            terminal().print(folder, no_wrap=True, overflow="ignore")


def _folders(outcomes: Sequence[Outcome]) -> Iterator[str]:
    kept = [outcome.run for outcome in outcomes if outcome.run.root is not None]
    if kept:
        yield f"stored in {kept[0].folder if len(kept) == 1 else kept[0].root}"


# Output of one run in full, without polars, because importing polars takes longer than a short run.


Row = Mapping[str, Any]
Words = Mapping[str, str]
"""The label of every flow, by its name."""
_DATAGRAMS = ("udp", "icmp")
"""Protocols without congestion control."""
_MOST_ROWS, _FEW_ROWS = 40, 16
"""Maximum number of rows of a table, and the number of flows and links up to which all rows are always
shown."""
_MOST_LINES = 55
"""Maximum number of lines of all tables and totals together. The rest of a 60-line screen is for warnings and
the last line."""
_MOST_LINES_OF_TRANSFERS = 10
_RTTS = {"rtt_min": "RTT min", "rtt_mean": "RTT mean", "rtt_p95": "RTT p95"}
_LIMITS = ("cwnd", "pacing", "application", "receiver", "send_buffer")


def show_run(run: Run, *, all_rows: bool = False, labels: Mapping[str, str] | None = None) -> None:
    """Print tables of the flows, transfers and links of a run, and totals.

    Without `all_rows`, tables have only as many rows as fit a screen of 60 lines. `labels` replace labels in
    the scenario.
    """
    console, flows, links = terminal(), run.rows("flows"), run.rows("links_summary")
    given = Labels(labels, [run.meta.scenario])
    words = {row["flow"]: given.group(row["flow"]) for row in flows} | given.flows(flows_in(run.scenario))
    rows, busy = len(flows) + len(links), list(filter(_is_busy, links))
    most = max(1, rows if all_rows else min(rows, _MOST_ROWS))
    parts = list(_parts(run, flows, busy, most, words))
    while rows > _FEW_ROWS and not all_rows and most > 1:
        tables = sum(isinstance(part, Table) for part in parts)
        lines = sum(len(console.render_lines(part)) for part in parts)
        if lines <= _MOST_LINES:
            break
        most = max(1, most - ceil((lines - _MOST_LINES) / tables))
        parts = list(_parts(run, flows, busy, most, words))
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))
    if told := shortfall([{}], [run]):
        complain(f"warning: {told}")
    everything = " (warm-up included)" if run.scenario.warmup_s else ""
    console.print(f"{run.meta.data_packets:,} data packets{everything} in {run.meta.wall_s:.2f} s")


def _parts(run: Run, flows: Sequence[Row], links: Sequence[Row], most: int, words: Words) -> Iterator[Any]:
    """Tables of at most `most` rows for flows and busy links, and the lines between the tables."""
    meta, warmup_s = run.meta, run.scenario.warmup_s
    connections = [row for row in flows if row.get("protocol") not in _DATAGRAMS]
    datagrams = [row for row in flows if row.get("protocol") in _DATAGRAMS]
    measured = f" without the first {warmup_s:g} s (warm-up)" if warmup_s else ""
    about = f", {meta.duration_s:g} s{measured}, seed {meta.seed}, engine {meta.engine.name}"
    yield led(run.name, "bold", about)
    if connections:
        yield _flows(connections, most, words)
        yield from _otherwise(run)
    if datagrams:
        yield _datagrams(run, datagrams, most, words)
    if not run.is_empty("transfers"):
        yield _transfers(run, most, words)
    if videos := run.rows("videos"):
        yield _videos(run, videos, most, words)
    yield _links(links, most)
    shapers = list(_shapers(run, links))
    for line in [*shapers[:most], *_left(len(shapers) - most)]:
        yield styled(line, "dim")
    for line in _totals(run, flows):
        yield Text(line)


def _totals(run: Run, flows: Iterable[Row]) -> Iterator[str]:
    """Goodput and fairness of all flows, or of downloads and uploads separately if a run has both."""
    rows = {row["flow"]: row for row in flows}
    for name, own in (flow_directions(run) or {"total": list(rows)}).items():
        there = [rows[flow] for flow in own if flow in rows]
        goodput_bps = rows_together_bps(there, "goodput_bps", run.scenario.warmup_s)
        yield ", ".join([f"{name} {_mbps(goodput_bps)} Mbit/s", *_fairness(run, there)])


def _fairness(run: Run, flows: Sequence[Row]) -> list[str]:
    """Jain's index of the bulk flows among `flows`, in words; empty for fewer than two bulk flows."""
    bulk, warmup_s = frozenset(bulk_names(run)), run.scenario.warmup_s
    competing = [row for row in flows if row["flow"] in bulk and row["goodput_bps"] is not None]
    if len(competing) < 2:
        return []
    index = jain_of_some(compared(flows, bulk, lambda: run.series, warmup_s), bulk)
    spans = {span_of(row, warmup_s) for row in competing}
    while_all = " while all are active" if len(spans) > 1 else ""
    shown = "-" if index is None else f"{index:.3f}"
    return [f"Jain {shown} of {len(competing)} bulk flows{while_all}"]


def _otherwise(run: Run) -> Iterator[Any]:
    """Notes on RTT columns that the engine of the run measures in another way than the heading says."""
    shown = {key: run.meta.otherwise.get(f"flows.{key}_s") for key in _RTTS}
    for why in dict.fromkeys(why for why in shown.values() if why):
        columns = [_RTTS[key] for key in shown if shown[key] == why]
        yield styled(f"{', '.join(columns)} of {run.meta.engine.name}: {why}", "dim")


def _transfers(run: Run, most: int, words: Words) -> Any:
    """Completion times of transfers after the warm-up: a row per flow if flows are few, and a row for all."""
    from fullpipe.analysis.metrics.applications import completion_percentiles_s, measured_transfers

    made = table("transfers", "began", "finished", "unfinished", "mean\nms", "p50\nms", "p95\nms", "p99\nms")
    transfers = measured_transfers(run)
    of_flows = completion_percentiles_s(transfers, by="flow")
    if 1 < of_flows.height <= min(_MOST_LINES_OF_TRANSFERS, most):
        for row in of_flows.iter_rows(named=True):
            made.add_row(words[row["flow"]], *_completion(row))
    made.add_row("all", *_completion(completion_percentiles_s(transfers).row(0, named=True)))
    return made


def _completion(row: dict[str, Any]) -> list[str]:
    counts = (row["finished"] + row["unfinished"], row["finished"], row["unfinished"])
    return [*map(_number, counts), *(_ms(row[f"{key}_s"]) for key in ("mean", "p50", "p95", "p99"))]


def _videos(run: Run, videos: Sequence[Row], most: int, words: Words) -> Any:
    name = "video (with\nthe warm-up)" if run.scenario.warmup_s else "video"
    made = table(
        name, "startup\ns", "played\ns", "stalled\ns", "stalls", "bit rate\nMbit/s", "switches", "pieces"
    )
    for row in videos[:most]:
        made.add_row(
            words[row["flow"]],
            *(_number(row[key], 2) for key in ("startup_s", "played_s", "stalled_s")),
            _number(row["stalls"]),
            _mbps(row["bitrate_bps"]),
            *(_number(row[key]) for key in ("switches", "chunks")),
        )
    return _ended(made, len(videos) - most)


def _flows(flows: Sequence[Row], most: int, words: Words) -> Any:
    made = table(
        "flow",
        "goodput\nMbit/s",
        "wire\nMbit/s",
        "dropped\n%",
        "retrans-\nmitted",
        "RTT min\nms",
        "mean\nms",
        "p95\nms",
        last="limited by\n% of time",
    )
    for row in flows[:most]:
        made.add_row(
            words[row["flow"]],
            *(_mbps(row[key]) for key in ("goodput_bps", "wire_bps")),
            _dropped_percent(row),
            _number(row["retransmitted_packets"]),
            *(_ms(row[key]) for key in ("rtt_min_s", "rtt_mean_s", "rtt_p95_s")),
            _limits(row),
        )
    return _ended(made, len(flows) - most)


def _datagrams(run: Run, rows: Sequence[Row], most: int, words: Words) -> Any:
    """A table of flows without congestion control. Calls have a mean opinion score (MOS).

    Pings and probes have no goodput, because the metric is meaningless for them.
    """
    from fullpipe.analysis.metrics.applications import call_scores  # imported here, as few runs need it
    from fullpipe.analysis.metrics.paths import echo_names
    from fullpipe.analysis.metrics.table import NOT_OF_ECHOES
    from fullpipe.cli.answer import number_shown

    scores = call_scores(run)
    without = echo_names(run.scenario) if "goodput" in NOT_OF_ECHOES else frozenset()
    made = table(
        "datagrams",
        "goodput\nMbit/s",
        "sent",
        "dropped\n%",
        "RTT p50\nms",
        "p95\nms",
        "one-way p50\nms",
        "p95\nms",
        "jitter\nms",
        "MOS",
    )
    for row in rows[:most]:
        goodput_bps = None if row["flow"] in without else row["goodput_bps"]
        made.add_row(
            words[row["flow"]],
            _number(goodput_bps and goodput_bps / 1e6, 3),
            _number(row["sent_packets"]),
            _dropped_percent(row),
            *(_ms(row[key]) for key in ("rtt_p50_s", "rtt_p95_s", "owd_p50_s", "owd_p95_s", "jitter_s")),
            number_shown(scores.get(row["flow"]), "1", "call_score"),
        )
    return _ended(made, len(rows) - most)


def _dropped_percent(row: Row) -> str:
    dropped, sent = row["dropped_packets"], row["sent_packets"]
    return _number(100 * dropped / sent if sent and dropped is not None else None, 2)


def _limits(row: Row) -> str:
    """The two limits of the flow (such as cwnd or pacing) that held for the largest shares of the time, in
    per cent, and the data that a full send buffer refused."""
    shares = sorted(((row[f"limited_{limit}"] or 0.0, limit) for limit in _LIMITS), reverse=True)
    found = [f"{limit.replace('_', ' ')} {100 * share:.0f}" for share, limit in shares[:2] if share >= 0.005]
    refused = row["refused_bytes"]
    return ", ".join([*found, f"{refused / 1e6:,.1f} MB refused"] if refused else found)


def _links(links: Sequence[Row], most: int) -> Any:
    """A table of the links that dropped, marked or queued packets."""
    made = table("link", "dropped", "marked", "busy\n%", "mean wait\nms", "p95\nms", "backlog max\npackets")
    for row in links[:most]:
        made.add_row(
            row["link"],
            _number(row["dropped_packets"]),
            _number(row["marked_packets"]),
            _number(None if row["utilisation"] is None else 100 * row["utilisation"], 1),
            _ms(row["sojourn_mean_s"]),
            _ms(row["sojourn_p95_s"]),
            _number(row["backlog_max_packets"]),
        )
    return _ended(made, len(links) - most)


def _ended(made: Table, left: int) -> Table:
    """The table, with a last row that gives the number of rows left out, if any."""
    for line in _left(left):
        made.add_row(line)
    return made


def _left(count: int) -> list[str]:
    """A line with the number of rows left out; empty if no row is left out."""
    return [f"and {count:,} more: --all"] if count > 0 else []


def _is_busy(link: Row) -> bool:
    """Whether a link dropped, marked or queued packets. Counts that the engine cannot measure are ignored."""
    lost, marked, backlog = (link[f"{key}_packets"] for key in ("dropped", "marked", "backlog_max"))
    is_lossy = lost is not None and marked is not None and lost + marked > 0
    return is_lossy or (backlog is not None and backlog > 1)


def _shapers(run: Run, links: Sequence[Row]) -> Iterator[str]:
    """Lines on queues that shape to a rate, with this rate and its utilisation."""
    for row in links:
        rate_bps, used = shaper_bps(run, row["link"]), shaper_utilisation(run, row)
        if rate_bps is not None and used is not None:
            rate = f"{_mbps(rate_bps)} Mbit/s"
            yield f"{row['link']}: its queue shapes to {rate}, utilisation {100 * used:.1f} %"


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _mbps(value: float | None) -> str:
    return _number(None if value is None else value / 1e6, 2)


def _ms(value: float | None) -> str:
    return _number(None if value is None else value * 1e3, 2)
