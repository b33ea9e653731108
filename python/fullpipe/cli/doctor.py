"""`fullpipe doctor`: what each engine has and lacks on this machine."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fullpipe.engines import Finding


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, by engine.")] = False,
) -> None:
    """Say what each engine has and lacks on this machine, and what to do about it.

    The exit code is 0 even if engines are missing: each is there for who wants it.
    """
    from fullpipe import engines

    made = {name: engines.engine(name) for name in engines.names()}
    found = {name: engine.doctor() for name, engine in made.items()}
    if as_json:
        typer.echo(json.dumps({name: _plain(findings) for name, findings in found.items()}))
        return
    for name, findings in found.items():
        typer.echo(f"{name}: {'ready' if _ready(findings) else 'cannot run here'}")
        for finding in findings:
            typer.echo(f"  {_mark(finding)} {finding.what}: {finding.detail}")
            if finding.remedy and not finding.present:
                typer.echo(f"    {finding.remedy}")


def _ready(findings: "list[Finding]") -> bool:
    return all(finding.present or not finding.needed for finding in findings)


def _plain(findings: "list[Finding]") -> dict[str, Any]:
    return {"ready": _ready(findings), "findings": [asdict(finding) for finding in findings]}


def _mark(finding: "Finding") -> str:
    if finding.present:
        return "has  "
    return "lacks" if finding.needed else "(no) "
