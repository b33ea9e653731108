"""`fullpipe import-tc`: a queue from a line of Linux's tc."""

from typing import Annotated

import tomli_w
import typer

from fullpipe.cli.output import echo
from fullpipe.scenario.tc.qdiscs import queue_of


def import_tc(
    line: Annotated[
        list[str],
        typer.Argument(metavar="LINE", help='Such as "tc qdisc add dev eth0 root codel limit 1000".'),
    ],
) -> None:
    """Print the queue of a scenario that does what a line of Linux's `tc` sets up."""
    echo(tomli_w.dumps({"topology": {"bottleneck": {"queue": queue_of(" ".join(line))}}}), nl=False)
