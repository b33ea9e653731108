"""`fullpipe plot`: finished runs over time."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from fullpipe import plots
from fullpipe.analysis.points import points_of
from fullpipe.cli.jobs import each_once, read_runs, runs_in, warn_of_short
from fullpipe.cli.output import complain, echo
from fullpipe.cli.plot_drawn import Kind, Log
from fullpipe.cli.plot_options import check_options, refused
from fullpipe.cli.plot_points import Chosen, figure_of, of_one_scenario
from fullpipe.cli.shared import Content, ContentOption, seconds_of, target
from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.plots.style import Width
from fullpipe.runs import Run

ONE_RUN: Mapping[str, Callable[..., tuple[Any, pl.DataFrame]]] = {
    **plots.CELL_FIGURES,
    **plots.PACKET_FIGURES,
    **plots.SAMPLE_FIGURES,
    Kind.ALL_SCALED: plots.all_scaled,
}
"""Kinds that are of one run."""


def plot(
    context: typer.Context,
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of runs; for figures over many runs also stores."),
    ],
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Quantity over time: goodput, rtt, cwnd, queue and others; may be repeated.",
        ),
    ] = None,
    flow: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this flow; may be repeated.")
    ] = None,
    var: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Internal variables over time, as in cwnd,bw,state; quantities are allowed, too.",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            parser=target, metavar="DIR", help="Folder of the figures, or one file: .png, .svg or .pdf."
        ),
    ] = Path("figures"),
    kind: Annotated[
        Kind | None,
        typer.Option(
            help="Kind of figure: of many runs up to means, of one run from all_scaled on. Unset: lines."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help='Metric over many runs, such as goodput or "rtt_mean of ping"; may be repeated.',
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Swept path along the axis, or the end of the path; flows: flow groups."
        ),
    ] = None,
    y: Annotated[
        str | None, typer.Option(metavar="PATH", help="Swept path along the vertical axis of a heat map.")
    ] = None,
    colour: Annotated[
        str | None, typer.Option(metavar="PATH", help="Swept path that has a colour per value.")
    ] = None,
    panel: Annotated[
        str | None, typer.Option(metavar="PATH", help="Swept path that has a panel per value.")
    ] = None,
    of: Annotated[str | None, typer.Option(metavar="NAME", help="Only this flow group or link.")] = None,
    x_of: Annotated[
        str | None,
        typer.Option("--x-of", metavar="NAME", help="Flow group whose delay --kind delay draws."),
    ] = None,
    x_label: Annotated[
        str | None,
        typer.Option("--xlabel", metavar="TEXT", help="Label of the horizontal axis, over many runs."),
    ] = None,
    y_label: Annotated[
        str | None,
        typer.Option("--ylabel", metavar="TEXT", help="Label of the vertical axis, over many runs."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Only runs with this value; may be repeated."),
    ] = None,
    content: ContentOption = Content.NEWEST,
    width: Annotated[
        str,
        typer.Option(metavar="WIDTH", help="Width of a figure over many runs: page or column of a paper."),
    ] = "page",
    log: Annotated[
        list[Log] | None,
        typer.Option(help="Logarithmic axis, over many runs; none: both are linear. May be repeated."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help='Time such as "4 s": of the pause of --kind handover, or the centre of --kind sequence.',
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the figure; the scenario's name unless given.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the names of the files as one JSON object.")
    ] = False,
) -> None:
    """A figure is a PNG and an SVG, with its numbers as CSV. Without other options, runs are drawn over time
    in the same axes.

    With `--kind`, `--metric` or `--x`, a figure is over many runs: lines with bands, heat maps, throughput
    against delay, or distributions.

    The other kinds draw one run. airtime, aggregates, channel and waits need a cell and record.variables.
    one-way, clumps, pauses and handover need record.packets at both ends; sequence needs it at the sender.
    phase draws the delivery rate and the RTT over the data in flight. rates draws the goodput of two flows
    over each other. all_scaled draws downloads, uploads and pings as Flent does.
    """
    kind = kind or (Kind.LINES if metric or x else None)
    check_options(context, kind)
    if quantity and var is not None:
        raise refused("--quantity goes without --var, among whose names quantities may be")
    if name is not None and _is_file(out):
        raise refused("--name goes with a folder, and --out names a file")
    if kind and kind in ONE_RUN:
        figure, data, title = _of_one(folders, kind, seconds_of(at, "--at"), flow or ())
        return _write(figure, data, out, title if name is None else name, as_json)
    if kind:
        if width not in ("page", "column"):
            raise typer.BadParameter("must be page or column", param_hint="--width")
        wide: Width = "column" if width == "column" else "page"
        axes = (x, y, colour, panel, of, where or ())
        axis = None if log is None else [each.value for each in log if each != Log.NONE]
        asked = Chosen(kind, metric or (), *axes, wide, x_of, x_label, y_label, axis)
        runs, asked = of_one_scenario(each_once(read_runs(runs_in(folders, content))), asked)
        figure, data = figure_of(runs, asked)
        warn_of_short(points_of(runs), runs)
        return _write(figure, data, out, f"{runs[0].name}-{asked.kind}" if name is None else name, as_json)
    runs = read_runs(folders)
    tables = [plots.presented(run) for run in runs]
    only = _labelled(runs, flow or ())
    try:
        labelled = dict(zip(_labels(runs), tables, strict=True))
        if var is not None:
            names = [part.strip() for part in var.split(",") if part.strip()]
            figure, data = plots.variables(labelled, names, only=only)
        else:
            chosen = (quantity,) if quantity else ()
            warmup_s = max(run.scenario.warmup_s for run in runs)
            figure, data = plots.overview(labelled, *chosen, only=only, warmup_s=warmup_s)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return _write(figure, data, out, runs[0].name if name is None else name, as_json)


def _labelled(runs: Sequence[Run], flows: Sequence[str]) -> list[str] | None:
    """What figures call these flows; nothing of none. Raises UnknownNameError if no run has one of them."""
    known = dict.fromkeys(name for run in runs for name in run.flows["flow"].to_list())
    for wanted in flows:
        if wanted not in known:
            raise UnknownNameError("flow", wanted, known)
    called = {name: label for run in runs for name, label in plots.flow_labels(run).items()}
    return [called.get(name, name) for name in flows] or None


def _of_one(
    folders: Sequence[Path], kind: Kind, at_s: float | None, flows: Sequence[str]
) -> tuple[Any, pl.DataFrame, str]:
    """A figure of one run, its table, and what it is called."""
    runs = read_runs(runs_in(folders))
    if len(runs) > 1:
        raise typer.BadParameter(f"{kind} is of one run; there are {len(runs)}", param_hint="--kind")
    (run,) = runs
    chosen: dict[str, Any] = {} if at_s is None else {"at_s": at_s}
    if only := _labelled(runs, flows):
        chosen |= _chosen_flows(kind, flows, only)
    try:
        found = ONE_RUN[kind](run if kind == Kind.ALL_SCALED else plots.presented(run), **chosen)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--kind") from None
    return *found, f"{run.name}-{kind}"


def _chosen_flows(kind: Kind, flows: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """What a kind takes of chosen flows; packets have their names, samples their labels."""
    if kind in plots.SAMPLE_FIGURES:
        return {"only": labels}
    if len(flows) > 1:
        raise typer.BadParameter("sequence is of one flow", param_hint="--flow")
    return {"flow": flows[0]}


def _is_file(out: Path) -> bool:
    """Whether it names a figure, and not the folder of figures."""
    return out.suffix.removeprefix(".") in plots.FORMATS


def _write(figure: Any, data: pl.DataFrame, out: Path, name: str, as_json: bool) -> None:
    """Write the figure and its numbers, and print the names of the files."""
    try:
        written = plots.save_as(figure, data, out) if _is_file(out) else plots.save(figure, data, out, name)
    except (ValueError, ResultError) as error:
        complain(error)
        raise typer.Exit(2) from None
    if as_json:
        echo(json.dumps({"files": [str(path) for path in written]}))
        return
    for path in written:
        echo(path)


def _labels(runs: Sequence[Run]) -> list[str]:
    """What tells the runs apart, or everything for a single one."""
    parts = {
        "scenario": [run.name for run in runs],
        "digest": [run.meta.digest[:6] for run in runs],
        "engine": [run.meta.engine.name for run in runs],
        "seed": [f"seed {run.meta.seed}" for run in runs],
    }
    varied = {part: words for part, words in parts.items() if len(runs) == 1 or len(set(words)) > 1}
    if len(set(zip(parts["scenario"], parts["digest"], strict=True))) == len(set(parts["scenario"])):
        varied.pop("digest", None)  # the names of the scenarios say it
    labels = [" ".join(words) for words in zip(*varied.values(), strict=True)] or [""] * len(runs)
    if len(set(labels)) == len(runs):
        return labels
    return [f"{label} {run.folder}".strip() for label, run in zip(labels, runs, strict=True)]
