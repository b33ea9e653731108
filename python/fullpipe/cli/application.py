"""The application of all commands, and its exit codes: 2 for bad input, 1 for a failure."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

import fullpipe
from fullpipe.cli import help
from fullpipe.cli.commands import COMMANDS, GROUPS, LazyCommand
from fullpipe.cli.endings import ended
from fullpipe.cli.output import ARGUMENTS, complain, echo
from fullpipe.errors import brief

_LONGEST = 400
_UsageError: Any = typer.BadParameter.__base__
"""Base of typer's exceptions for wrong arguments; its module differs between versions."""
_TITLE = "A laboratory for TCP congestion control."
_LAST = "Begin with `fullpipe run single-bbr1`. Next: `fullpipe COMMAND --help`, `man`."


class _Group(help.Group):
    """Turns errors for the user into one line and an exit code."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: LazyCommand(name) for name in COMMANDS}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help.overview(ctx, _TITLE, GROUPS, _LAST))

    def make_context(self, info_name: Any, args: list[str], *rest: Any, **more: Any) -> Any:
        written = list(args)  # parsing removes words from `args`
        with _readable():
            context = super().make_context(info_name, args, *rest, **more)
        context.meta[ARGUMENTS] = written
        return context

    def invoke(self, ctx: Any) -> Any:
        with ended(), _readable():
            return super().invoke(ctx)


@contextmanager
def _readable() -> Iterator[None]:
    """Turn an error in the arguments into one line and exit code 2.

    Raises:
        SystemExit: If an argument is wrong.
    """
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message of this exception is the help text
            print(error.format_message())  # our own help text, with colours
            sys.exit(2)
        said = brief(" ".join(error.format_message().split()), _LONGEST).removesuffix(".")
        where = f"; see `{error.ctx.command_path} --help`" if error.ctx else ""
        complain(f"{said[:1].lower()}{said[1:]}{where}")
        sys.exit(2)


app = typer.Typer(
    name="fullpipe",
    cls=_Group,
    help=_TITLE,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        from fullpipe.commit import with_commit  # imported here, as few commands need it

        echo(f"fullpipe {with_commit(fullpipe.__version__)}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass
