"""The commands `import` and `import-tc`."""

import json
from pathlib import Path
from typing import Annotated, Any

import tomli_w
import typer

from fullpipe import files
from fullpipe.cli.asked import read_scenario
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shared import Out, target
from fullpipe.engines.imported import read_run
from fullpipe.engines.imported.measurement import given_names, save
from fullpipe.errors import InputFileError, visible
from fullpipe.runs import Run, Store
from fullpipe.scenario import scenario_names
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.quantities import natural
from fullpipe.scenario.tc import qdiscs, script, sqm
from fullpipe.scenario.tc.assembly import has_rate, scenario_of
from fullpipe.scenario.tc.devices import Router, Shaper, link_of

# `fullpipe import`: stores measurements of other programs as runs.


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
                "Algorithm that a name in the file stands for: with bbr=bbr3, the kernel's bbr is bbr3. For a"
                " capture, NAME is the name of a flow, or all for every flow. May be repeated."
            ),
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per file, one per line.")
    ] = False,
) -> None:
    """Each file becomes a stored run. Runs of the same test are numbered as seeds 1, 2, ... in the order of
    their start times. The output has remarks on the data of each file. A file that cannot be read is
    reported, and the other files are imported.
    """
    names, store = given_names(cca or []), Store(out)
    found, failed = [], False
    for path in dict.fromkeys(files):
        try:
            found.append((path, read_run(path, names)))
        except InputFileError as error:
            complain(error)
            failed = True
    with store.batch() as batch:
        for path, run in sorted(found, key=lambda pair: pair[1].meta.started):
            kept = save(run, batch)
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


# `fullpipe import-tc`: converts a tc command into a link, or a router's configuration file into a scenario.


_MOST_BYTES = 1_000_000
_FLOWS = {"download": "comes", "upload": "leaves"}
"""Directions of a router's flows, each with the verb of its note: traffic "comes" or "leaves". Only a
direction with a rate limit gets a flow."""


def import_tc(
    line: Annotated[
        list[str],
        typer.Argument(
            metavar="LINE|FILE",
            help='A command such as "tc qdisc add dev eth0 root codel limit 1000". Or a file with such'
            " commands, with output of `tc -s qdisc show`, or OpenWrt's /etc/config/sqm.",
        ),
    ],
    behind: Annotated[
        str | None,
        typer.Option(
            "--line",
            metavar="LINE|SCENARIO",
            help="For a file: the access line behind the router, as a name (cable, dsl) or a TOML file.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", parser=target, metavar="FILE", help="Write the result to this file, as TOML."
        ),
    ] = None,
) -> None:
    """A tc command becomes a queue; a netem command becomes a link. A file becomes the scenario of a router,
    with a flow in each direction whose rate the router limits. Comments list the settings that are left out.
    Unknown options are errors.
    """
    file = Path(line[0])
    if len(line) == 1 and " " not in line[0]:
        text = _router(_text(file), behind)
    else:
        if behind is not None:
            raise typer.BadParameter("needs a file as LINE|FILE", param_hint="--line")
        text = _link(link_of(qdiscs.read(" ".join(line))))
    if out is not None:
        files.write(out, text.encode())
    echo(text if out is None else out, nl=out is not None)


def _link(found: Router) -> str:
    """The single link of a router, as the bottleneck of a scenario."""
    (shaper,) = _shapers(found)
    link = shaper.link
    if "rate" in link:
        link["rate"] = natural(link["rate"])
    if "queue" in link and link["queue"]["kind"] in Discipline.known():
        link["queue"] = Discipline.model_validate(link["queue"]).model_dump(by_alias=True)
    return _comments(found.notes) + tomli_w.dumps({"topology": {"bottleneck": link}})


def _router(text: str, behind: str | None) -> str:
    found = sqm.router_of(text) if sqm.is_sqm(text) else script.router_of(text)
    shapers = _shapers(found)
    if behind is None and len(shapers) == 1 and not has_rate(shapers[0].link):
        found.notes.append("a scenario needs a rate; name the line behind the router, as in --line dsl")
        return _link(found)
    access = None if behind is None else read_scenario(behind)
    if behind and access and behind not in scenario_names():
        own = access.model_fields_set - {"name", "topology"}
        left = [key for key in access.to_dict() if own & {key, f"{key}_s"}]
        if left:
            found.notes.append(f"only the links of {Path(behind).name} are used, not its {', '.join(left)}")
    scenario = scenario_of(found, access)
    there = {flow.name for flow in scenario.flows}
    missing = [
        f"no {flow} flow, as no rate limits what {verb}; name the line behind the router, as in --line dsl"
        for flow, verb in _FLOWS.items()
        if flow not in there
    ]
    return _comments([*found.notes, *missing]) + scenario.to_toml()


def _shapers(found: Router) -> list[Shaper]:
    return [shaper for shaper in (found.up, found.down) if shaper is not None]


def _comments(notes: list[str]) -> str:
    return "".join(f"# {visible(note)}\n" for note in notes)


def _text(file: Path) -> str:
    try:
        with files.open_regular(file) as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputFileError(f"{file}: cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST_BYTES or b"\0" in data:
        raise InputFileError(f"{file}: is not a configuration file in text form")
    return bytes(data).decode("utf-8", errors="replace")
