"""`fullpipe list`: registered names, by kind."""

import json
from typing import Annotated

import typer

from fullpipe.cli.kinds import KINDS, Kind
from fullpipe.cli.output import echo


def list_names(
    kind: Annotated[
        Kind | None, typer.Argument(help="Kind of names to list (default: the kinds, with their numbers).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with a key per name.")
    ] = False,
) -> None:
    """`fullpipe show NAME` describes a name in full."""
    if kind is None:
        from fullpipe.cli.described import print_kinds  # imported here, as it is slow to import

        numbers = {str(each): len(names()) for each, names in KINDS.items()}
        echo(json.dumps(numbers)) if as_json else print_kinds(numbers)
        return
    if kind is Kind.engines:
        from fullpipe.cli.show import list_engines  # imported here, as other kinds need no engines

        list_engines(as_json)
        return
    found = KINDS[kind]()
    if as_json:
        from fullpipe.cli.described import in_short  # imported here and below, as both are slow to import

        echo(json.dumps({name: in_short(one) for name, one in found.items()}))
        return
    from fullpipe.cli.described import print_all

    print_all(found)
