"""`fullpipe paper`: a published study beside our own numbers."""

from pathlib import Path
from typing import Annotated

import typer

from fullpipe import studies
from fullpipe.cli.asked import processors
from fullpipe.cli.output import complain, echo, say, width
from fullpipe.cli.progress import progress_bar
from fullpipe.cli.shared import MAX_SEEDS, Jobs, Out


def paper(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `fullpipe list papers`.")],
    seeds: Annotated[
        int | None, typer.Option(min=1, max=MAX_SEEDS, metavar="N", help="Run the seeds 1 to N.")
    ] = None,
    workers: Jobs = None,
    out: Out = Path("runs"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a short version, to see that it works.")
    ] = False,
    engine: Annotated[str, typer.Option(help="Engine for our numbers.", metavar="NAME")] = "native",
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the paper's published data, from which its printed values are computed again.",
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CLAIM",
            help="Run only this claim, and find the setting that changes its verdict; list: all claims.",
        ),
    ] = None,
) -> None:
    """All experiments run, tables show the printed values beside ours, and figures are drawn. What the engine
    cannot run is left out, with the reason. The exit code is 1 if the engine can run nothing.
    """
    if explain is not None and data is not None:
        raise typer.BadParameter("--explain runs a claim again; --data is for the whole study")
    if explain == "list":
        for claim in studies.printed(name):
            say(f"{claim.id}: {claim.says}")
        return
    if explain is not None:
        with progress_bar(
            studies.explaining(name, explain, seeds=seeds, quick=quick, engine=engine)
        ) as progress:
            found = studies.explain(
                name,
                explain,
                seeds=seeds,
                workers=workers or processors(),
                out=out,
                quick=quick,
                engine=engine,
                progress=progress,
            )
        echo(found.text(width()))
        return
    from fullpipe.studies import document  # here: help and explanations need no pages

    study = studies.prepare(
        name,
        seeds=seeds,
        workers=workers or processors(),
        out=out,
        quick=quick,
        engine=engine,
        data=data,
    )
    with progress_bar(study.jobs, then=", drawing figures") as progress:
        made = study.run(progress)
    for line in made.refused:
        complain(f"left out: {line}")
    echo(f"{made.fitted(width())}\n")
    for line in document.ending(name, made, quick=quick).split("\n"):
        say(line, indent="")
