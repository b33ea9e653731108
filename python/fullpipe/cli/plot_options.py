"""Options of `fullpipe plot` by the figures that they go with; others are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import typer

from fullpipe.cli.output import complain
from fullpipe.cli.plot_drawn import Kind

ALWAYS = ("--kind", "--out", "--name", "--width", "--json")
"""They go with every figure."""
_OVER_TIME = "runs over time"
_OF_MANY = "--metric --panel --of --where --content --label --xlabel --ylabel"
_ALONG_X = f"{_OF_MANY} --x --colour --log=none"
_SHARES = f"{_OF_MANY} --colour --log=none --log=x"
_OF_KIND: Mapping[Kind, str] = {
    Kind.LINES: f"{_ALONG_X} --log=x --log=y",
    Kind.HEATMAP: f"{_OF_MANY} --x --y",
    Kind.DELAY: f"{_ALONG_X} --y --x-of --log=x --log=y",
    Kind.CDF: _SHARES,
    Kind.BOX: f"{_ALONG_X} --log=y",
    Kind.ECDF: _SHARES,
    Kind.VIOLIN: f"{_ALONG_X} --log=y",
    Kind.MEANS: f"{_ALONG_X} --log=y",
    Kind.HANDOVER: "--at",
    Kind.SEQUENCE: "--at --flow",
    Kind.PHASE: "--flow",
    Kind.RATES: "--flow",
}
OPTIONS: Mapping[Kind | None, tuple[str, ...]] = {
    None: ("--quantity", "--flow", "--var", "--label"),
    **{kind: tuple(_OF_KIND.get(kind, "").split()) for kind in Kind},
}
"""Options of each kind, besides those of all kinds; None: runs over time."""
_INSTEAD = {
    "--flow": "--of chooses a group of flows",
    "--x": "--colour and --panel tell runs apart",
    "--colour": "--panel tells runs apart",
}
"""Options that do the same in a figure over many runs."""


def check_options(context: typer.Context, kind: Kind | None) -> None:
    """End with exit code 2 and a line if an option says nothing of a kind; None: runs over time."""
    needless = [option for option in _given(context) if option not in (*ALWAYS, *OPTIONS[kind])]
    if needless:
        raise refused(_told(needless[0], kind))


def refused(why: str) -> typer.Exit:
    """The end of the command, of which a line says why."""
    complain(why)
    return typer.Exit(2)


def _given(context: typer.Context) -> Iterator[str]:
    """The options in the command; --log with every axis."""
    for param in context.command.params:
        source = context.get_parameter_source(str(param.name))
        if param.param_type_name != "option" or source is None or source.name != "COMMANDLINE":
            continue
        if param.name == "log":
            yield from (f"--log={axis}" for axis in context.params[param.name])
        else:
            yield param.opts[0]


def _told(option: str, kind: Kind | None) -> str:
    """A line on the figures that an option goes with, and on what to use instead."""
    kinds = [each.value for each in OPTIONS if each is not None and option in OPTIONS[each]]
    named = " or ".join(filter(None, [", ".join(kinds[:-1]), *kinds[-1:]]))
    goes_with = [*([f"--kind {named}"] if kinds else []), *([_OVER_TIME] if option in OPTIONS[None] else [])]
    told = f"{option.replace('=', ' ')} goes with {' or with '.join(goes_with)}"
    if kind is None:
        return f"{told}, not with {_OVER_TIME}; name a --kind"
    instead = _INSTEAD.get(option) if "--panel" in OPTIONS[kind] else None
    return f"{told}, not with --kind {kind}{f'; {instead}' if instead else ''}"
