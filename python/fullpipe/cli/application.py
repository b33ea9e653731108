"""The application of all commands, and its exit codes: 2 for bad input, 1 for a failure."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import fullpipe
from fullpipe.cli.commands import COMMANDS, LazyCommand
from fullpipe.cli.endings import ended
from fullpipe.cli.output import ARGUMENTS, echo
from fullpipe.errors import brief

EXAMPLES = (
    ("fullpipe run single-bbr1", "a named scenario"),
    ("fullpipe run my.toml --seeds 10 --jobs 2", "your own, ten times"),
    ("fullpipe run kato2025 --set tcp.mss='1448 B' --json", "one JSON object per run"),
    ("fullpipe show kato2025 > my.toml", "start from that one"),
    ("fullpipe metrics RUN", "what came out, and what not to trust"),
    ("fullpipe compare my.toml --over flows.0.cca=cubic,bbr3", "which is better, and by how much?"),
    ("fullpipe test runs --metric goodput --factor cca", "do levels differ?"),
    ("fullpipe compare my.toml --engines native,linux --seeds 5", "are engines equivalent?"),
    ("fullpipe plot runs/*/native-1", "runs over time"),
    ("fullpipe plot RUN --var cwnd,bw,state", "what an algorithm thought"),
    ("fullpipe report runs -o report.html", "a page to hand over"),
    ("fullpipe ui", "a page to try what if in"),
    ("fullpipe runs --where seed=1", "what is kept"),
    ("fullpipe query 'select cca, avg(goodput_bps) from flows group by 1'", "ask all runs in SQL"),
    ("fullpipe export RUN -o run.pcapng", "captured packets, for Wireshark"),
    ('fullpipe import-tc "tc qdisc add dev eth0 root pie"', "a queue, from Linux's tc"),
    ("fullpipe conformance bbr3 preset=draft", "the example tests of the BBR draft"),
    ("fullpipe paper kato2025 --quick", "a published study"),
)
_LONGEST = 400
_UsageError: Any = typer.BadParameter.__base__
"""The base of what typer says of wrong arguments, wherever the version that is installed has it from."""
_EPILOG = "\n\n".join(["Examples:", *(f"  {command:<52} {what}" for command, what in EXAMPLES)])


class _Group(TyperGroup):
    """Turns errors that are meant for the user into a message and an exit code."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: LazyCommand(name) for name in COMMANDS}

    def make_context(self, info_name: Any, args: list[str], *rest: Any, **more: Any) -> Any:
        written = list(args)  # what is parsed is taken from it
        with _readable():
            context = super().make_context(info_name, args, *rest, **more)
        context.meta[ARGUMENTS] = written
        return context

    def invoke(self, ctx: Any) -> Any:
        with ended(), _readable():
            return super().invoke(ctx)


@contextmanager
def _readable() -> Iterator[None]:
    """What is said of wrong arguments quotes them."""
    try:
        yield
    except _UsageError as error:
        vars(error)["message"] = brief(error.message, _LONGEST)
        raise


app = typer.Typer(
    name="fullpipe",
    cls=_Group,
    help="A laboratory for TCP congestion control.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(asked: bool) -> None:
    if asked:
        from fullpipe.commit import with_commit  # here: only this and reports name it

        echo(f"fullpipe {with_commit(fullpipe.__version__)}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass
