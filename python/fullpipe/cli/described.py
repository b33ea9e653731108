"""Descriptions and lists of registered names, such as algorithms, metrics and tables."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fullpipe.cli.kinds import Preset
from fullpipe.scenario import catalogue
from fullpipe.scenario.catalogue import Entry, Param

if TYPE_CHECKING:
    from fullpipe.analysis.metrics.measure import LinkMeasure, Measure
    from fullpipe.runs import Table


# Descriptions of a registered name: one line, JSON, and full text.


_OF_PARAMS = ("parameter", "default", "range", "meaning")


def line(one: Any) -> str:
    """One line that describes an entry, a metric or a table. A string is returned unchanged."""
    match one:
        case str():
            return one
        case Entry():
            return one.title + (f" (also: {', '.join(one.aliases)})" if one.aliases else "")
        case _ if hasattr(one, "row"):
            return f"one row per {one.row}"
        case _:
            return f"{_unit(one)}, {_direction(one)}: {one.meaning}"


def in_short(one: Any) -> Any:
    """Value of a name in `list --json`: an object for an entry or a metric, one line for other kinds."""
    return line(one) if isinstance(one, str) or hasattr(one, "row") else description(one)


def description(one: Any) -> dict[str, Any]:
    """The JSON object that `show --json` prints for a name."""
    match one:
        case str():
            return {"about": one}
        case Entry() | Preset():
            return asdict(one)
        case _ if hasattr(one, "row"):
            return _table(one)
        case _:
            return _measure(one)


def _measure(measure: "Measure | LinkMeasure") -> dict[str, Any]:
    of = "flows" if hasattr(measure, "is_of_one_way") else "link"
    words = {"unit": measure.unit, "better": measure.better, "meaning": measure.meaning}
    return {
        "name": measure.name,
        **words,
        "margin": asdict(measure.margin),
        "of": of,
        "made_of": measure.column,
    }


def _table(described: "Table") -> dict[str, Any]:
    columns = [
        {"name": column.name, "type": str(column.dtype), "unit": column.unit, "meaning": column.meaning}
        for column in described.columns
    ]
    return {"name": described.name, "row": described.row, "columns": columns}


def describe(name: str, one: Any, family: str) -> None:
    """Print a full description on a terminal.

    `family` is printed after the name unless empty, for names that several families have.
    """
    from fullpipe.cli.console import led, terminal

    of = f" ({family})" if family else ""
    match one:
        case Entry():
            _show_entry(one, of)
        case Preset():
            for algorithm, values in one.algorithms.items():
                told = f"{of}: a preset of {algorithm}: {_given(values)}"
                terminal().print(led(name, "bold", told))
        case _ if hasattr(one, "row"):
            _show_table(one, of)
        case str():
            terminal().print(led(name, "bold", f"{of}: {one}"))
        case _:
            _show_measure(one, of)


def _show_measure(measure: "Measure | LinkMeasure", of: str) -> None:
    from fullpipe.cli.console import led, terminal

    console, found = terminal(), _measure(measure)
    console.print(led(measure.name, "bold", f"{of}: {measure.meaning}"))
    console.print(f"of: {'groups of flows' if found['of'] == 'flows' else 'links'}")
    console.print(f"unit: {_unit(measure)}")
    console.print(f"better: {measure.better or 'neither direction'}")
    console.print(f"margin: {measure.margin}, differences up to the margin do not matter")
    console.print(f"made of: {measure.column}")
    if measure.synonyms:
        console.print(f"other words: {', '.join(word.replace('_', ' ') for word in measure.synonyms)}")


def _unit(measure: "Measure | LinkMeasure") -> str:
    return "no unit" if measure.unit == "1" else measure.unit


def _direction(measure: "Measure | LinkMeasure") -> str:
    return f"{measure.better} is better" if measure.better else "neither is better"


def _show_entry(entry: Entry, of: str) -> None:
    from fullpipe.cli.console import led, listing, terminal

    console = terminal()
    console.print(led(entry.name, "bold", f"{of}: {entry.title}"))
    for what, text in (("also", ", ".join(entry.aliases)), ("source", entry.source)):
        if text:
            console.print(f"{what}: {text}")
    if entry.params:
        rows = [*_size(entry), *map(_row, entry.params.values())]
        shown = [n for n, heading in enumerate(_OF_PARAMS) if heading == "meaning" or any(r[n] for r in rows)]
        table = listing(*(_OF_PARAMS[n] for n in shown))
        for row in rows:
            table.add_row(*(row[n] for n in shown))
        console.print(table)
    for preset, values in entry.presets.items():
        console.print(f"preset {preset}: {_given(values)}")


def _size(entry: Entry) -> list[list[str]]:
    """The table row of `size`, the key that sets the packet limit of a queue; empty for other entries."""
    limits = [param.key for param in entry.with_role("limit")]
    is_queue = catalogue.queues().get(entry.name) == entry
    if not is_queue or not any(param.unit == "packets" for param in entry.with_role("limit")):
        return []
    told = f"Limit as a multiple of the link's BDP, or as a time, instead of {' and '.join(limits)}."
    return [["size", "", "1 bdp or 50 ms", told]]


def _row(param: Param) -> list[str]:
    default = param.written(param.default) if param.has_quantity else _default(param.default)
    bounds = f"{param.written_range.replace(' to ', '..')} {param.written_unit}".strip()
    return [param.key, default, bounds, param.doc]


def _default(value: Any) -> str:
    """A default as text: one line per key of a table and per part of a list."""
    match value:
        case None:
            return ""
        case Mapping():
            return "\n".join(f"{key} {part}" for key, part in value.items())
        case list():
            return "\n".join(map(str, value))
        case _:
            return str(value)


def _given(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "the defaults"


def _show_table(described: "Table", of: str) -> None:
    from fullpipe.cli.console import led, listing, terminal

    table = listing("column", "type", "unit", "meaning")
    for column in described.columns:
        table.add_row(column.name, str(column.dtype), column.unit, column.meaning)
    console = terminal()
    console.print(led(described.name, "bold", f"{of}: one row per {described.row}"))
    console.print(table)


# Output of `fullpipe list`, without typer, whose import takes longer than the rest of the command.


def print_kinds(numbers: Mapping[str, int]) -> None:
    """Print the kinds of names with the number of names, and the command that lists one kind."""
    from fullpipe.cli.console import listing, styled, terminal  # imported here, as --json needs none

    table = listing("", "")
    for kind, number in numbers.items():
        table.add_row(styled(kind, "bold"), f"{number:>3,}")
    terminal().print(table)
    terminal().print("`fullpipe list KIND` lists the names of a kind, such as `fullpipe list ccas`.")


def print_all(found: Mapping[str, Any]) -> None:
    """Print a line per name. Entries of the catalogue also show their source and parameters."""
    from fullpipe.cli.console import listing, styled, terminal  # imported here, as --json needs none

    table = listing("", "")
    for name, one in found.items():
        table.add_row(styled(name, "bold"), line(one))
        if isinstance(one, Entry):
            if one.source:
                table.add_row("", styled(one.source, "dim"))
            keys = [*(row[0] for row in _size(one)), *one.keys]
            table.add_row("", styled(f"parameters: {', '.join(keys) or 'none'}", "dim"))
    terminal().print(table)
