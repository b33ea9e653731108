"""`fullpipe demo`: a figure, to see that it works and what it is for."""

from pathlib import Path
from typing import Annotated

import typer

from fullpipe import plots
from fullpipe.api import run
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.runs import Run
from fullpipe.scenario import Scenario

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
    echo("An upload over 1 Mbit/s, and a ping beside it; the idle line takes 30 ms.")
    for kind, one in made.items():
        echo(f"  {kind:<9}  ping {_of('ping', 'rtt_mean_s', one) * 1e3:4.0f} ms   {_upload(one)}")
    echo(f"The figure: {written[0]}, as SVG and its numbers as CSV beside it.\n\nNext:")
    for command, what in _NEXT:
        echo(f"  {command:<55}  {what}")


def _with_queue(scenario: Scenario, kind: str) -> Scenario:
    """The scenario, whose modem has a drop-tail queue, with another one."""
    return scenario if kind == "drop_tail" else scenario.with_values({_PATH: kind})


def _upload(one: Run) -> str:
    return f"upload {_of('upload', 'goodput_bps', one) / 1e6:.2f} Mbit/s"


def _of(flow: str, column: str, one: Run) -> float:
    return float(one.flows.filter(flow=flow)[column].item())
