"""The commands `init`, `demo` and `schema`."""

import json
import re
from enum import StrEnum
from importlib import import_module
from importlib.resources import files as of_package
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import files, plots
from fullpipe.api import run
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.errors import InputFileError, UnknownNameError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.flent.build import LINES

# `fullpipe schema`: JSON Schemas of scenario files, of files of findings, and of files of tests.


NAME = "fullpipe.schema.json"
"""Name of the schema file that `init` writes to the folder of a scenario."""


class Of(StrEnum):
    """Kinds of files that have a schema."""

    SCENARIO = "scenario"
    FINDINGS = "findings"
    TESTS = "tests"


def schema(
    of: Annotated[
        Of,
        typer.Argument(
            metavar="KIND",
            help="scenario, findings (files written by compare -o and check -o), or tests (files written by"
            " test -o).",
        ),
    ] = Of.SCENARIO,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=target,
            metavar="FILE",
            help="Write the schema to this file, and print its name.",
        ),
    ] = None,
) -> None:
    """Editors use the schema of scenarios to complete, explain and check scenario files. The schemas of
    findings and tests describe the files that compare, check and test write with -o. Taplo (Even Better
    TOML) needs "#:schema ./fullpipe.schema.json" as the first line of a scenario, as `fullpipe init` writes
    it.
    """
    text = schema_text(of)
    if out is None:
        echo(text, nl=False)
        return
    files.write(out, text.encode())
    echo(out)


def schema_text(of: Of = Of.SCENARIO) -> str:
    """The schema of a kind of files, as JSON text."""
    return json.dumps(_schema(of), indent=1, ensure_ascii=False) + "\n"


def _schema(of: Of) -> dict[str, Any]:
    """The JSON Schema of a kind of files. The module that makes the schema is imported here, as it is
    slow."""
    if of == Of.SCENARIO:
        from fullpipe.scenario.schema import file_schema

        return file_schema()
    name = {Of.FINDINGS: "compare", Of.TESTS: "test"}[of]
    schema: dict[str, Any] = import_module(f"fullpipe.validation.{name}.stored").schema()
    return schema


# `fullpipe init`: writes a scenario to start from.


LF = "\n"


def init(
    file: Annotated[
        Path, typer.Argument(parser=target, metavar="FILE", help="File to write, such as my.toml.")
    ],
    with_schema: Annotated[
        bool,
        typer.Option("--schema/--no-schema", help=f"Also write {NAME} to the same folder, for editors."),
    ] = True,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help=f"Start from the scenario of a home line and its usual load: {', '.join(LINES)}.",
        ),
    ] = None,
) -> None:
    """The scenario has two flows and a ping. Its comments show other keys. An existing scenario is never
    overwritten. An existing schema is replaced.
    """
    if file.suffix != ".toml":
        raise typer.BadParameter(f'"{file.name}" does not end in .toml', param_hint="FILE")
    if path is not None and path not in LINES:
        raise UnknownNameError("line", path, LINES)
    if file.exists():
        raise InputFileError(f"{file}: exists already; choose another name, or remove the file")
    files.write(file, first_text(file.stem, with_schema=with_schema, line=path).encode())
    echo(file)
    if with_schema:
        beside = file.with_name(NAME)
        files.write(beside, schema_text().encode())
        echo(beside)
    echo(f"next: fullpipe run {file}", err=True)


def first_text(name: str, *, with_schema: bool = True, line: str | None = None) -> str:
    """The text of the first scenario, or of the scenario of a home line. The scenario is named after the
    file.

    Characters that a name may not have are replaced by "-".
    """
    data = of_package("fullpipe") / "data"
    text = (data / "first.toml").read_text(encoding="utf-8")
    own = "first"
    if line is not None:
        text = (
            f"{text.partition(LF)[0]}{LF}{(data / 'scenarios' / f'{line}.toml').read_text(encoding='utf-8')}"
        )
        own = line
    called = re.sub(r"[^\w.+ -]", "-", name)[:100]
    text = text.replace(f'name = "{own}"', f'name = "{called}"', 1).replace("FILE", f"{name}.toml")
    return text if with_schema else text.partition(LF)[2]


# `fullpipe demo`: draws a first figure.


_PATH = "topology.reverse.queue"
_QUEUES = ("drop_tail", "fq_codel")
_NEXT = (
    ("fullpipe show dsl", "the scenario"),
    (f"fullpipe run dsl --set {_PATH}=fq_codel", "one of the two runs"),
    ("fullpipe init my.toml", "your own scenario"),
    ("fullpipe list scenarios", "all named scenarios"),
)


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=target, metavar="DIR", help="Folder for the figure.")
    ] = Path(),
) -> None:
    """A ping runs beside an upload on a DSL line, first with a drop-tail queue in the modem, then with
    FQ-CoDel. The two runs of 30 simulated seconds are not stored.
    """
    scenario = Scenario.named("dsl").with_values({"record.interval": "400 ms"})
    made = {kind: run(_with_queue(scenario, kind)) for kind in _QUEUES}
    tables = {kind: plots.presented(one) for kind, one in made.items()}
    figure, data = plots.overview(tables, ["rtt"], only=["ping"], warmup_s=scenario.warmup_s)
    written = plots.save(figure, data, out, "demo")
    echo("An upload over 1 Mbit/s, and a concurrent ping; the RTT of the idle line is 30 ms.")
    for kind, one in made.items():
        echo(f"  {kind:<9}  ping {_of('ping', 'rtt_mean_s', one) * 1e3:4.0f} ms   {_upload(one)}")
    echo(f"The figure: {written[0]}, also as SVG, with its numbers as CSV.\n\nNext:")
    for command, what in _NEXT:
        echo(f"  {command:<55}  {what}")


def _with_queue(scenario: Scenario, kind: str) -> Scenario:
    """The scenario with this kind of queue in the modem, which has a drop-tail queue by default."""
    return scenario if kind == "drop_tail" else scenario.with_values({_PATH: kind})


def _upload(one: Run) -> str:
    return f"upload {_of('upload', 'goodput_bps', one) / 1e6:.2f} Mbit/s"


def _of(flow: str, column: str, one: Run) -> float:
    return float(one.flows.filter(flow=flow)[column].item())
