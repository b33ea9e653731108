"""The command line that gives the same again."""

import shlex
from collections.abc import Iterator
from typing import Any

import typer


def command_line(context: typer.Context) -> str:
    """What was typed, with its options in the order of the help."""
    return shlex.join(["fullpipe", str(context.command.name), *_words(context)])


def _words(context: typer.Context) -> Iterator[str]:
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        source = context.get_parameter_source(str(parameter.name))
        if value is None or source is None or source.name != "COMMANDLINE":
            continue
        option = max(parameter.opts, key=len) if parameter.param_type_name == "option" else None
        if value is True and option:
            yield option
        else:
            for each in value if isinstance(value, list | tuple) else [value]:
                yield from [option, _text(each)] if option else [_text(each)]


def _text(value: Any) -> str:
    return str(value)
