"""`fullpipe doctor`: what each engine needs, and what is missing on this machine."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from fullpipe.cli.engines import statuses
from fullpipe.cli.output import echo, say
from fullpipe.engines import Requirement


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with a key per engine.")
    ] = False,
) -> None:
    """Each missing requirement has a line that says how to get it. Engines are optional: the exit code is 0
    even if some are missing.
    """
    found = statuses()
    if as_json:
        echo(json.dumps({name: {"ready": s.ready, **asdict(s)} for name, s in found.items()}))
        return
    for name, status in found.items():
        echo(f"{name}: {'ready' if status.ready else 'cannot run here'}")
        for requirement in status.requirements:
            say(f"  {_mark(requirement)} {requirement.what}: {requirement.detail}", indent=" " * 8)
            if requirement.remedy and not requirement.present:
                say(f"    {requirement.remedy}", indent=" " * 8)


def _mark(requirement: Requirement) -> str:
    if requirement.present:
        return "has  "
    return "lacks" if requirement.needed else "(no) "
