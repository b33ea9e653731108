"""Output of `fullpipe list`, without typer, which takes longer to import than all of this."""

from collections.abc import Mapping
from typing import Any

from fullpipe.cli.console import listing, styled, terminal
from fullpipe.cli.described import line
from fullpipe.scenario.catalogue import Entry


def print_all(found: Mapping[str, Any]) -> None:
    """Print a line of each, and of entries of the catalogue their source and parameters."""
    table = listing("", "")
    for name, one in found.items():
        table.add_row(styled(name, "bold"), line(one))
        if isinstance(one, Entry):
            if one.source:
                table.add_row("", styled(one.source, "dim"))
            table.add_row("", styled(f"parameters: {', '.join(one.keys) or 'none'}", "dim"))
    terminal().print(table)
