"""`fullpipe doctor`: what each engine has and lacks on this machine."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from fullpipe.cli.engines import statuses
from fullpipe.cli.output import echo

if TYPE_CHECKING:
    from fullpipe.engines import Finding


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, by engine.")] = False,
) -> None:
    """Say what each engine has and lacks on this machine, and what to do about it.

    The exit code is 0 even if engines are missing: each is there for who wants it.
    """
    found = statuses()
    if as_json:
        echo(json.dumps({name: {"ready": s.ready, **asdict(s)} for name, s in found.items()}))
        return
    for name, status in found.items():
        echo(f"{name}: {'ready' if status.ready else 'cannot run here'}")
        for finding in status.findings:
            echo(f"  {_mark(finding)} {finding.what}: {finding.detail}")
            if finding.remedy and not finding.present:
                echo(f"    {finding.remedy}")


def _mark(finding: "Finding") -> str:
    if finding.present:
        return "has  "
    return "lacks" if finding.needed else "(no) "
