"""The commands `completion` and `man`."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import typer

import fullpipe
from fullpipe.cli.help import EXAMPLES
from fullpipe.cli.output import echo
from fullpipe.cli.tree import Command, Parameter, every_command

# Scripts for bash, zsh and fish, from the commands as data.


Commands = Sequence[Command]

_BASH = """\
# Completion of fullpipe for bash.
_fullpipe() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local command="${{COMP_WORDS[1]}}" words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words={commands}
    else
        case "$COMP_CWORD $command" in
{groups}
        *)
            case "$command" in {names}) command="$command ${{COMP_WORDS[2]}}" ;; esac
            case "$command $before" in
{values}
            *)
                case "$command $current" in
{parameters}
                esac ;;
            esac ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o bashdefault -o default -F _fullpipe fullpipe
"""
_ZSH = """\
#compdef fullpipe
# Completion of fullpipe for zsh.
_fullpipe() {{
    local command="$words[2]" before="$words[CURRENT-1]"
    local -a found
    if (( CURRENT == 2 )); then
        found=({commands})
        _describe command found
        return
    fi
    case "$CURRENT $command" in
{groups}
    esac
    case "$command" in {names}) command="$command $words[3]" ;; esac
    case "$command $before" in
{values}
    esac
    if [[ "$PREFIX" == -* ]]; then
        case "$command" in
{options}
        esac
        _describe -o option found
        return
    fi
    case "$command" in
{arguments}
    esac
    compadd -a found
    _files
}}
if [[ "$funcstack[1]" == _fullpipe ]]; then _fullpipe "$@"; else compdef _fullpipe fullpipe; fi
"""
_FISH = """\
# Completion of fullpipe for fish.
function __fullpipe_at
    set --local given (commandline --tokenize --cut-at-cursor --current-process)
    for place in (seq (count $argv))
        test "$given["(math $place + 1)"]" = "$argv[$place]"; or return 1
    end
end
function __fullpipe_after
    set --local given (commandline --tokenize --cut-at-cursor --current-process)
    test (count $given) -eq (math (count $argv) + 1); and __fullpipe_at $argv
end
"""


def bash(commands: Commands) -> str:
    """The script for bash: a function for `complete`. If it offers no words, bash completes file names."""
    return _BASH.format(
        commands=_words(_first(commands)),
        groups="\n".join(
            f"        '2 {name}') words={_words(inner)} ;;" for name, inner in _groups(commands)
        ),
        names="|".join(name for name, _ in _groups(commands)),
        values="\n".join(
            f"            {_pattern(command, option)}) words={_words(option.names)} ;;"
            for command, option in _with_values(commands)
        ),
        parameters="\n".join(line for command in commands for line in _of_bash(command)),
    )


def _of_bash(command: Command) -> Iterator[str]:
    spellings = [word for option in command.options for word in option.spellings]
    yield f"                {shlex.quote(command.name + ' -')}*) words={_words([*spellings, '--help'])} ;;"
    yield f"                {shlex.quote(command.name + ' ')}*) words={_words(_names(command))} ;;"


def zsh(commands: Commands) -> str:
    """The script for zsh: a compsys function, with descriptions of commands and options."""
    summaries = _first(commands)
    return _ZSH.format(
        commands=_described(summaries.items()),
        groups="\n".join(
            f"    '3 {name}') found=({_described(inner.items())}); _describe command found; return ;;"
            for name, inner in _groups(commands)
        ),
        names="|".join(name for name, _ in _groups(commands)),
        values="\n".join(
            f"    {_pattern(command, option)}) found=({_listed(option.names)}); compadd -a found; return ;;"
            for command, option in _with_values(commands)
        ),
        options="\n".join(
            f"        {shlex.quote(command.name)}) found=({_described(_spelt(command))}) ;;"
            for command in commands
        ),
        arguments="\n".join(
            f"    {shlex.quote(command.name)}) found=({_listed(_names(command))}) ;;" for command in commands
        ),
    )


def fish(commands: Commands) -> str:
    """The script for fish: `complete` lines, with descriptions of commands and options."""
    lines = [_FISH.rstrip()]
    for name, summary in _first(commands).items():
        lines.append(_of_fish("__fullpipe_after", f"-f -a {name}", summary))
    for group, inner in _groups(commands):
        lines += (
            _of_fish(f"__fullpipe_after {group}", f"-f -a {name}", said) for name, said in inner.items()
        )
    for command in commands:
        at = f"__fullpipe_at {command.name}"
        lines += (_of_fish(at, _option_of_fish(option), option.help) for option in command.options)
        if names := _names(command):
            lines.append(_of_fish(at, f"-a {_words(names)}", ""))
    return "\n".join(lines) + "\n"


def _of_fish(condition: str, completes: str, said: str) -> str:
    described = f" -d {_quoted(said)}" if said else ""
    return f"complete -c fullpipe -n {_quoted(condition)} {completes}{described}"


def _option_of_fish(option: Parameter) -> str:
    spelt = [f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in option.spellings]
    given = f" -x -a {_words(option.names)}" if option.names else " -r" if option.metavar else ""
    return " ".join(spelt) + given


def _first(commands: Commands) -> dict[str, str]:
    """The words that may follow "fullpipe", with their descriptions."""
    from fullpipe.cli.commands import COMMANDS

    names = dict.fromkeys(command.name.partition(" ")[0] for command in commands)
    return {name: COMMANDS[name].summary for name in names}


def _groups(commands: Commands) -> list[tuple[str, dict[str, str]]]:
    """Groups of commands, each with its commands and their descriptions."""
    found: dict[str, dict[str, str]] = {}
    for command in commands:
        group, space, name = command.name.partition(" ")
        if space:
            found.setdefault(group, {})[name] = command.summary
    return list(found.items())


def _with_values(commands: Commands) -> Iterator[tuple[Command, Parameter]]:
    """Options with a fixed list of values, each with its command."""
    yield from ((command, option) for command in commands for option in command.options if option.names)


def _pattern(command: Command, option: Parameter) -> str:
    return "|".join(shlex.quote(f"{command.name} {spelling}") for spelling in option.spellings)


def _names(command: Command) -> list[str]:
    return [name for argument in command.arguments for name in argument.names]


def _spelt(command: Command) -> Iterator[tuple[str, str]]:
    yield from ((spelling, option.help) for option in command.options for spelling in option.spellings)


def _words(words: Iterable[str]) -> str:
    return shlex.quote(" ".join(words))


def _listed(words: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, words))


def _described(pairs: Iterable[tuple[str, str]]) -> str:
    """Arguments of zsh's `_describe`, each written "word:description"."""
    return _listed(f"{word}:{said}" if said else word for word, said in pairs)


def _quoted(text: str) -> str:
    """Text in single quotes, as fish reads them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: Mapping[str, Callable[[Commands], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
"""The function that writes the completion script, by shell."""


# `fullpipe completion`: scripts that complete commands, options and names in a shell.


class Shell(StrEnum):
    """Shells with completion."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="Shell to complete in.")]) -> None:
    """The script completes commands, options, and names such as those of scenarios and algorithms. The
    script never calls fullpipe, so completion is immediate. Print it again after an update of fullpipe.
    """
    echo(SCRIPTS[shell](list(every_command())), nl=False)


# `fullpipe man`: the manual page in troff.


_INTRODUCTION = (
    "fullpipe simulates TCP congestion control packet by packet, with a transport that follows Linux. A"
    " scenario is a TOML file; a run of it is a folder of tables, which commands measure, compare, draw and"
    " export."
)
_STATUS = (("0", "Done."), ("1", "A failure."), ("2", "Bad input: one line says what, where and what to do."))


def man() -> None:
    """The page has the help text of every command and option."""
    echo(page(), nl=False)


def page() -> str:
    """The manual page, in the macros of man(7)."""
    commands = list(every_command())
    parts = [
        f'.TH FULLPIPE 1 "" "fullpipe {fullpipe.__version__}" "User Commands"',
        ".na",  # no justification, since long words would leave wide gaps
        ".SH NAME\nfullpipe \\- a laboratory for TCP congestion control",
        ".SH SYNOPSIS\n.B fullpipe\n.I command\n.RI [ options ]",
        f".SH DESCRIPTION\n{_escaped(_INTRODUCTION)}",
        ".SH COMMANDS",
        *(part for command in commands for part in _command(command)),
        ".SH EXAMPLES",
        *(f".TP\n.B {_escaped(command)}\n{_escaped(what)}" for command, what in EXAMPLES),
        ".SH EXIT STATUS",
        *(f".TP\n.B {code}\n{_escaped(what)}" for code, what in _STATUS),
    ]
    return "\n".join(parts) + "\n"


def _command(command: Command) -> Iterator[str]:
    yield f".SS {_escaped(f'fullpipe {command.usage}')}"
    yield "\n.PP\n".join(map(_escaped, command.paragraphs))
    yield from map(_parameter, (*command.arguments, *command.options))


def _parameter(given: Parameter) -> str:
    title = _escaped(given.title).replace("|", "|\\:")  # allow a line break after each "|"
    return f".TP\n.B {title}\n{_escaped(given.meaning)}"


def _escaped(text: str) -> str:
    """Text that troff prints unchanged: escapes, minus signs and leading request characters are escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)
