"""Flows and links of one or of several runs: what lines are called, and how they look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from fullpipe.analysis.over_time import Tables
from fullpipe.palette import Look, looks

Actor = tuple[str, str]
"""The label of a run, and the name of a flow or a link of it."""


def line_names(actors: Iterable[Actor]) -> dict[Actor, str]:
    """The name of every line: that of the flow or link, after the label of its run if several have it.

    >>> line_names([("5 ms", "cubic-1"), ("9 ms", "cubic-1"), ("9 ms", "bbr3-1")])[("9 ms", "bbr3-1")]
    'bbr3-1'
    """
    pairs = list(dict.fromkeys(actors))
    names = [name for _, name in pairs]
    return {(run, name): name if names.count(name) == 1 else f"{run}: {name}" for run, name in pairs}


def algorithms(runs: Mapping[str, Tables]) -> dict[str, str]:
    """The algorithm of every flow, by its name and by what a line of it may be called."""
    found: dict[str, str] = {}
    for run, tables in runs.items():
        flows = tables.get("flows")
        if flows is not None:
            for name, cca in flows.select("flow", "cca").drop_nulls().iter_rows():
                found |= {name: cca, f"{run}: {name}": cca}
    return found


def flow_looks(tables: Tables, flows: Sequence[str]) -> dict[str, Look]:
    """The look of flows of one run."""
    return looks(flows, algorithms({"": tables}))


def restyle(
    axes: Sequence[Axes], of: Mapping[str, str] | None = None, group: Callable[[str], str] = str
) -> dict[str, Any]:
    """Give every line of the same label the same look in all axes; returns a line per label.

    Args:
        axes: With lines that have labels.
        of: The algorithm of a label, whose colour it has.
        group: Lines whose labels it maps to the same are one: all flows of a run, say.
    """
    entries: dict[str, Any] = {}
    lines = [line for place in axes for line in place.lines]
    labels = {line: group(str(line.get_label())) for line in lines}
    links = {label: "" for label in labels.values() if ": " in label}  # unless they are flows
    found = looks(list(dict.fromkeys(labels.values())), links | dict(of or {}))
    for line, label in labels.items():
        entries.setdefault(label, line)
        line.set(**found[label].line)
    return entries
