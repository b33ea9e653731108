"""`fullpipe import`: measurements of other programs as runs."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe.cli.output import complain, echo
from fullpipe.cli.shared import Out
from fullpipe.engines import flent, pcap
from fullpipe.engines.flent.algorithms import given_names
from fullpipe.engines.pcap.blocks import is_capture
from fullpipe.errors import InputFileError
from fullpipe.runs import Run, Store


def import_files(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Flent's data files, and captures: pcap or pcapng, also as .gz."
        ),
    ],
    out: Out = Path("runs"),
    cca: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ALGORITHM",
            help=(
                "Algorithm behind a kernel's name for it, as in bbr=bbr3. For a capture, the"
                " algorithm of a flow, or all=cubic. May be repeated."
            ),
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per file, one per line.")
    ] = False,
) -> None:
    """Remarks say what the data show. Runs of one test are stored as its seeds, in order of their times. A
    file that cannot be read is reported, and the others are imported.
    """
    names, store = given_names(cca or []), Store(out)
    found, failed = [], False
    for path in dict.fromkeys(files):
        try:
            engine = pcap if is_capture(path) else flent
            found.append((path, engine.read_run(path, names)))
        except InputFileError as error:
            complain(error)
            failed = True
    with store.batch() as batch:
        for path, run in sorted(found, key=lambda pair: pair[1].meta.started):
            kept = flent.save(run, batch)
            echo(json.dumps(_told(path, kept)) if as_json else _lines(path, kept))
    if failed:
        raise typer.Exit(2)


def _told(path: Path, run: Run) -> dict[str, Any]:
    return {
        "file": str(path),
        "folder": str(run.folder),
        "test": run.name,
        "seed": run.meta.seed,
        "started": run.meta.started,
        "host": dict(run.meta.host),
        "remarks": list(run.meta.remarks),
    }


def _lines(path: Path, run: Run) -> str:
    title = run.meta.host.get("title")
    head = f"{run.folder}  {run.name}{f', {title}' if title else ''} ({path.name})"
    return "\n".join([head, *(f"  {remark}" for remark in run.meta.remarks)])
