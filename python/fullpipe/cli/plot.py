"""`fullpipe plot`: draws finished runs over time, or metrics over many runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from fullpipe import plots
from fullpipe.analysis.over_seeds import told_of_runs
from fullpipe.analysis.points import points_of
from fullpipe.cli.output import complain, echo
from fullpipe.cli.plot_axes import read_ends
from fullpipe.cli.plot_drawn import Kind, Log
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.cli.plot_time import in_order, labelled_flows, over_time
from fullpipe.cli.selection import filtered_runs, of_one_scenario, read_labels
from fullpipe.cli.shared import (
    Content,
    ContentOption,
    LabelOption,
    checked_width,
    figure_target,
    seconds_of,
)
from fullpipe.cli.stored import each_once, read_runs, runs_in, warn_of_short
from fullpipe.errors import ResultError
from fullpipe.plots.style import WIDTHS, as_wide_as, check_formulas, within_time

# Options of `fullpipe plot` by kind of figure. An option that does not apply to a kind is an error.


ALWAYS = ("--kind", "--out", "--name", "--width", "--json")
"""Options of every figure."""
_OVER_TIME = "runs over time"
_OF_MANY = "--metric --panel --of --where --content --label --xlabel --ylabel"
_ENDS = "--xlim --ylim"
_ALONG_X = f"{_OF_MANY} --x --colour --log=none"
_SHARES = f"{_OF_MANY} --colour --log=none --log=x --xlim"
_OF_KIND: Mapping[Kind, str] = {
    Kind.LINES: f"{_ALONG_X} --log=x --log=y {_ENDS}",
    Kind.HEATMAP: f"{_OF_MANY} --x --y",
    Kind.DELAY: f"{_ALONG_X} --y --x-of --log=x --log=y {_ENDS}",
    Kind.CDF: _SHARES,
    Kind.BOX: f"{_ALONG_X} --log=y --ylim",
    Kind.ECDF: _SHARES,
    Kind.VIOLIN: f"{_ALONG_X} --log=y --ylim",
    Kind.MEANS: f"{_ALONG_X} --log=y --ylim",
    Kind.HANDOVER: "--at",
    Kind.PAUSES: "--flow",
    Kind.SEQUENCE: "--at --flow",
    Kind.PHASE: "--flow --xlim",
    Kind.RATES: "--flow --xlim --window",
    Kind.AIRTIME: "--xlim",
    Kind.CHANNEL: "--xlim",
    Kind.WAITS: "--xlim --window",
    Kind.ALL_SCALED: "--xlim --window",
}
OPTIONS: Mapping[Kind | None, tuple[str, ...]] = {
    None: ("--quantity", "--flow", "--var", "--label", "--xlim", "--window", "--mean"),
    **{kind: tuple(_OF_KIND.get(kind, "").split()) for kind in Kind},
}
"""Options of each kind, in addition to `ALWAYS`. The key None is for figures of runs over time."""
_INSTEAD = {
    "--flow": "--of chooses a group of flows",
    "--x": "--colour and --panel tell runs apart",
    "--colour": "--panel tells runs apart",
}
"""For an option that does not apply to figures over many runs, the option to use instead."""


def check_options(context: typer.Context, kind: Kind | None) -> None:
    """Print an error and end with exit code 2 if an option does not apply to `kind`. The kind None is for
    figures over time."""
    needless = [option for option in _given(context) if option not in (*ALWAYS, *OPTIONS[kind])]
    if needless:
        raise refused(_told(needless[0], kind))


def refused(why: str) -> typer.Exit:
    """Print the error `why`, and return the exception that ends the command with exit code 2."""
    complain(why)
    return typer.Exit(2)


def _given(context: typer.Context) -> Iterator[str]:
    """The options in the command line. `--log` is yielded once per axis, as `--log=x`."""
    for param in context.command.params:
        source = context.get_parameter_source(str(param.name))
        if param.param_type_name != "option" or source is None or source.name != "COMMANDLINE":
            continue
        if param.name == "log":
            yield from (f"--log={axis}" for axis in context.params[param.name])
        else:
            yield param.opts[0]


def _told(option: str, kind: Kind | None) -> str:
    """The error for an option that does not apply: kinds that have the option, and what to use instead."""
    kinds = [each.value for each in OPTIONS if each is not None and option in OPTIONS[each]]
    named = " or ".join(filter(None, [", ".join(kinds[:-1]), *kinds[-1:]]))
    goes_with = [*([f"--kind {named}"] if kinds else []), *([_OVER_TIME] if option in OPTIONS[None] else [])]
    told = f"{option.replace('=', ' ')} goes with {' or with '.join(goes_with)}"
    if kind is None:
        return f"{told}, not with {_OVER_TIME}; name a --kind"
    instead = _INSTEAD.get(option) if "--panel" in OPTIONS[kind] else None
    return f"{told}, not with --kind {kind}{f'; {instead}' if instead else ''}"


ONE_RUN: Mapping[str, Callable[..., tuple[Any, pl.DataFrame]]] = {
    **plots.CELL_FIGURES,
    **plots.PACKET_FIGURES,
    **plots.SAMPLE_FIGURES,
    Kind.ALL_SCALED: plots.all_scaled,
}
"""Kinds that draw a single run, each with the function that draws it."""
OF_WARMUP = (Kind.CHANNEL, Kind.WAITS, Kind.PHASE, Kind.RATES)
"""Kinds of `ONE_RUN` that mark or leave out the warm-up."""


def plot(
    context: typer.Context,
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of runs, or stores (folders of finished runs)."),
    ],
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Quantity over time, such as goodput, rtt or cwnd; may be repeated.",
        ),
    ] = None,
    flow: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Draw only this flow; may be repeated.")
    ] = None,
    var: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Internal variables or quantities over time, such as cwnd,bw,state.",
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            parser=figure_target,
            metavar="DIR",
            help="Folder or image file (default: figures); may be repeated.",
        ),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option(
            help="Kind of figure. The kinds from lines to means draw many runs, all other kinds one run."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help='Metric, such as goodput or "rtt_mean of ping"; may be repeated.',
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|METRIC",
            help="Swept path on the horizontal axis, or the word flows: groups of flows. With --kind delay:"
            " the metric on this axis (default: rtt_mean).",
        ),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|METRIC",
            help="Swept path on the vertical axis; --kind delay: metric.",
        ),
    ] = None,
    colour: Annotated[
        str | None, typer.Option(metavar="PATH", help="Swept path; each value has its own colour.")
    ] = None,
    panel: Annotated[
        str | None, typer.Option(metavar="PATH", help="Swept path; each value has its own panel.")
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Draw only this flow group or link (default: the only group that is swept, or"
            ' all flows). "all flows" draws all groups together.',
        ),
    ] = None,
    x_of: Annotated[
        str | None,
        typer.Option(
            "--x-of", metavar="NAME", help="With --kind delay: flow group or link whose delay is drawn."
        ),
    ] = None,
    x_label: Annotated[
        str | None,
        typer.Option(
            "--xlabel", metavar="TEXT", help="Label of the horizontal axis of figures over many runs."
        ),
    ] = None,
    y_label: Annotated[
        str | None,
        typer.Option(
            "--ylabel", metavar="TEXT", help="Label of the vertical axis of figures over many runs."
        ),
    ] = None,
    x_ends: Annotated[
        str | None,
        typer.Option(
            "--xlim", metavar="FROM,TO", help='Ends of the horizontal axis, such as "0, 120"; of time in s.'
        ),
    ] = None,
    y_ends: Annotated[
        str | None,
        typer.Option(
            "--ylim",
            metavar="FROM,TO",
            help="Ends of the vertical axis. Linear axes of metrics begin at 0.",
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Window of means of goodput (default: 3 base RTTs; --mean: longer)."
        ),
    ] = None,
    mean: Annotated[
        bool,
        typer.Option("--mean", help="Over time: draw means over seeds with 95 % intervals, not single runs."),
    ] = False,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUE",
            help="Draw only these runs: cca=cubic or cca=cubic,bbr3. May be repeated.",
        ),
    ] = None,
    content: ContentOption = Content.NEWEST,
    width: Annotated[
        str | None,
        typer.Option(metavar="WIDTH", help=f"Width of the figure: {', '.join(WIDTHS)}."),
    ] = None,
    label: LabelOption = None,
    log: Annotated[
        list[Log] | None,
        typer.Option(help="Logarithmic axis; none makes all other axes linear. May be repeated."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help='With --kind handover or sequence: time to draw, such as "4 s".',
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the figure (default: the scenario's name).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the names of the files as one JSON object.")
    ] = False,
) -> None:
    """Figures are PNG, SVG and PDF, their values CSV. By default, runs are drawn over time.

    With `--metric`, `--x` or a kind from lines to means, figures show metrics of many runs. `--kind delay --x
    queueing_p95` draws throughput over p95 queueing delay, as in papers on Sprout and Copa.

    The other kinds draw one run. airtime, aggregates, channel and waits need a cell and record.variables.
    one-way, clumps, pauses and handover need packets captured at both ends, and sequence at the sender.
    phase and rates need samples. all_scaled is the plot of this name in Flent.
    """
    outs = list(dict.fromkeys(out or [Path("figures")]))
    kind = kind or (Kind.LINES if metric or x else None)
    check_options(context, kind)
    if quantity and var is not None:
        raise refused("--quantity excludes --var; give all names to --var, which also takes quantities")
    if mean and var is not None:
        raise refused("--mean excludes --var; name quantities with --quantity")
    if name is not None and any(map(plots.is_file, outs)):
        raise refused("--name needs a folder as --out, but --out is a file; leave out --name")
    checked_width(width)
    given = read_labels(label or ())
    for option, text in (("--xlabel", x_label), ("--ylabel", y_label)):
        try:
            check_formulas([text or ""])
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint=option) from None
    ends = read_ends(x_ends, "--xlim"), read_ends(y_ends, "--ylim")
    is_of_many = kind is not None and kind not in ONE_RUN
    with as_wide_as(width), within_time(None if is_of_many else ends[0], seconds_of(window, "--window")):
        if kind and kind in ONE_RUN:
            figure, data, title = _of_one(folders, kind, seconds_of(at, "--at"), flow or ())
        elif kind:
            runs, left = of_one_scenario(each_once(read_runs(runs_in(folders, content))), where or ())
            axes = (x, y, colour, panel, of, left)
            scales = (None if log is None else [each.value for each in log], *ends)
            asked = Chosen(kind, metric or (), *axes, width or "page", x_of, x_label, y_label, *scales, given)
            figure, data = figure_of(runs, asked)
            there = filtered_runs(list(zip(points_of(runs), runs, strict=True)), left)
            warn_of_short(points_of(there), there)
            words = "-".join(metric or ()).replace(" of ", "-of-").replace("/", "-")
            title = "-".join(filter(None, [runs[0].name, kind, words]))
        else:
            runs = in_order(read_runs(runs_in(folders, content)), mean=mean)
            figure, data = over_time(runs, quantity or (), var, flow or (), given, mean=mean)
            title = runs[0].name
        return _write(figure, data, outs, title if name is None else name, as_json)


def _of_one(
    folders: Sequence[Path], kind: Kind, at_s: float | None, flows: Sequence[str]
) -> tuple[Any, pl.DataFrame, str]:
    """A figure of one run, its table, and its name."""
    runs = read_runs(runs_in(folders))
    if len(runs) > 1:
        raise typer.BadParameter(
            f"{kind} draws one run, not {len(runs)}; name the folder of one run", param_hint="--kind"
        )
    (run,) = runs
    chosen: dict[str, Any] = {} if at_s is None else {"at_s": at_s}
    if only := labelled_flows(runs, flows):
        chosen |= _chosen_flows(kind, flows, only)
    if kind in OF_WARMUP:
        chosen["warmup_s"] = run.scenario.warmup_s
    try:
        found = ONE_RUN[kind](run if kind == Kind.ALL_SCALED else plots.presented(run), **chosen)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--kind") from None
    plots.note_below(found[0], [told_of_runs(runs)])
    return *found, f"{run.name}-{kind}"


def _chosen_flows(kind: Kind, flows: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """Argument for the flows to draw: figures of packets take a flow name, figures of samples labels."""
    if kind in plots.SAMPLE_FIGURES:
        return {"only": labels}
    if len(flows) > 1:
        raise typer.BadParameter(f"{kind} draws one flow; give --flow once", param_hint="--flow")
    return {"flow": flows[0]}


def _write(figure: Any, data: pl.DataFrame, outs: Sequence[Path], name: str, as_json: bool) -> None:
    """Write the figure and its numbers to all files and folders, and print the names of the files."""
    try:
        every = [path for out in outs for path in plots.write(figure, data, out, name)]
        written = list(dict.fromkeys(every))
    except (ValueError, ResultError) as error:
        complain(error)
        raise typer.Exit(2) from None
    if as_json:
        echo(json.dumps({"files": [str(path) for path in written]}))
        return
    for path in written:
        echo(path)
