"""Scripts of `tc` commands, and the output of `tc -s qdisc`."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from fullpipe.errors import ScenarioError, shown
from fullpipe.scenario.tc import qdiscs
from fullpipe.scenario.tc.assembly import Assembly, after
from fullpipe.scenario.tc.devices import Router, at_line
from fullpipe.scenario.tc.qdiscs import ADDED, MAX_LINE, line_of

# Parsing of the output of `tc qdisc show`, `tc class show` and `tc filter show`, with or without `-s`.
#
#     qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 18Mbit diffserv3 triple-isolate nonat nowash noatm
#      Sent 12054 bytes 117 pkt (dropped 0, overlimits 0 requeues 0)
#
# Lines that begin with neither "qdisc", "class" nor "filter" are statistics or shell prompts. They are
# skipped.


_UNNAMED = "this device"
_REDIRECTED = re.compile(r"\(Egress Redirect to device ([^\s)]+)\)")
_POLICED = re.compile(r"police 0x[0-9a-f]+ rate (\S+) burst (\S+)")


def is_printed(lines: Iterable[str]) -> bool:
    """Whether any line is output of `tc qdisc show`."""
    return any(qdiscs.is_printed(line.split(maxsplit=3)) for line in lines)


def read(lines: Iterable[str], assembly: Assembly) -> None:
    """Add the printed lines to an assembly.

    Raises:
        ScenarioError: If a line is too long, or a class has no valid rate.
    """
    name = _UNNAMED
    for number, line in enumerate(lines, 1):
        with at_line(number):
            if len(line) > MAX_LINE:
                raise ScenarioError([f"tc: the line is longer than {MAX_LINE} characters"])
            name = _read(number, line.split(), name, assembly)


def _read(number: int, words: Sequence[str], name: str, assembly: Assembly) -> str:
    """Add a line, and return the name of its device. If `tc` was called for a single device, lines lack the
    name of the device, which is then `name`."""
    first, text = words[0] if words else "", " ".join(words)
    if qdiscs.is_printed(words):
        found = qdiscs.printed(words)
        name = found.device or name
        assembly.add_qdisc(number, name, found)
    elif first == "class" and "htb" in words[1:2]:
        name = after(words, "dev") or name
        assembly.add_class(name, ("classid", *words[2:], "htb"))
    elif redirected := _REDIRECTED.search(text):
        assembly.redirect(name, redirected[1])
    elif policed := _POLICED.search(text):
        line = qdiscs.Line("police", ("rate", policed[1], "burst", policed[2]))
        assembly.police(name, line)
    elif "tc" in words and "dev" in words:
        name = after(words, "dev") or name
    return name


# Parsing of a shell script that configures a router: queues of its devices, and redirections between devices.
#
#     IF=eth0
#     tc qdisc replace dev $IF root cake bandwidth 9mbit
#     tc qdisc add dev $IF handle ffff: ingress
#     tc filter add dev $IF parent ffff: matchall action mirred egress redirect dev ifb0
#     tc qdisc replace dev ifb0 root cake bandwidth 90mbit ingress
#
# The script is never run. Variables with plain values are expanded; control flow is refused.


_MOST_LINES = 1_000
_KINDS = ("qdisc", "class", "filter")
_OTHER_ACTIONS = ("del", "delete", "show", "list", "ls", "get")
_IGNORED = frozenset(
    ("modprobe", "insmod", "rmmod", "set", "echo", "printf", "true", "false", ":", "logger", "sleep", "exit")
)
"""Commands without an effect on queues. The command "exit" ends the script."""
_LEFT_OUT = frozenset(("ethtool", "sysctl"))
_WITH_EFFECT = frozenset(("mtu", "txqueuelen", "txqlen", "qlen"))
"""Words of `ip` and `ifconfig` that change a queue or the size of packets."""
_DECIDES = frozenset(
    (
        *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac"),
        *("select", "function", "{", "}", "[", "[[", "test", "eval", "source", "."),
        *("trap", "return", "shift", "read"),
    )
)
_DECLARES = frozenset(("export", "readonly", "local", "declare", "typeset"))
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_ASSIGNMENT = re.compile(rf"({_NAME})=(.*)", re.DOTALL)
_VARIABLE = re.compile(rf"\$(?:\{{({_NAME})\}}|({_NAME})|)")
_COMPUTED = re.compile(r"\$\(|`")
_COMPUTED_VARIABLE = re.compile(rf"\s*(?:(?:{'|'.join(sorted(_DECLARES))})\s+)?({_NAME})=")
_PLAIN = re.compile(r"[\w./:,%+@=\- ]*")
"""Pattern of values that a shell does not expand or split."""
_REDIRECTION = re.compile(r"(?:(?<!\S)\d+|&)?>{1,2}\s*(?:&\s*\d|[^\s;&|]+)")
_OPERATORS = ";&|"


def router_of(text: str) -> Router:
    """Return the router that a script configures, or that output of `tc qdisc show` describes.

    Raises:
        ScenarioError: If a line is not understood, or several devices may be at the access line.
    """
    lines = text.replace("\\\n", " ").splitlines()
    if len(lines) > _MOST_LINES:
        raise ScenarioError([f"tc: the file has more than {_MOST_LINES:,} lines"])
    assembly = Assembly()
    if is_printed(lines):
        read(lines, assembly)
        return assembly.router()
    script = _Script(assembly)
    for number, line in enumerate(lines, 1):
        with at_line(number):
            script.read(number, line)
    return assembly.router()


class _Script:
    """Reads the lines of a shell script, and keeps the values of its variables."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._variables: dict[str, str | None] = {}
        """Values of variables. None: only a shell could compute the value."""
        self._has_ended = False

    def read(self, number: int, line: str) -> None:
        """Process a line."""
        line = line.strip()
        if self._has_ended or not line or line.startswith("#"):
            return
        if len(line) > MAX_LINE:
            raise ScenarioError([f"tc: the line is longer than {MAX_LINE} characters"])
        if _COMPUTED.search(line):
            self._computed(line)
            return
        for operator, words in _commands(line):
            self._command(number, operator, words)

    def _computed(self, line: str) -> None:
        """Process a line with command substitution or arithmetic."""
        if found := _COMPUTED_VARIABLE.match(line):
            self._variables[found[1]] = None
        elif line.split(maxsplit=1)[0] not in _IGNORED:
            raise ScenarioError(["tc: command substitution and arithmetic are not computed; write the value"])

    def _command(self, number: int, operator: str, words: Sequence[str]) -> None:
        assigned = [found for word in words if (found := _ASSIGNMENT.fullmatch(word))]
        if words[0] in _DECLARES or len(assigned) == len(words):
            for found in assigned:
                self._variables[found[1]] = self._plain(found[2])
            return
        while _ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]  # skips an environment variable of this command
        first = words[0]
        if first in _IGNORED:
            self._has_ended |= first == "exit" and operator == ""
            return
        if first in _DECIDES or "(" in first:
            raise ScenarioError(
                [f"tc: control flow ({shown(first)}) is not supported; write the lines of tc that are run"]
            )
        words = [part for word in words for part in self._expanded(word)]
        if sum(map(len, words)) > MAX_LINE:
            raise ScenarioError([f"tc: the line is longer than {MAX_LINE} characters"])
        if words:
            self._run(number, operator, words)

    def _plain(self, text: str) -> str | None:
        """Return the value of a variable, or None if only a shell could compute it."""
        try:
            value = " ".join(self._expanded(text))
        except ScenarioError:
            return None
        return value if _PLAIN.fullmatch(value) and len(value) <= MAX_LINE else None

    def _expanded(self, word: str) -> list[str]:
        """Return the words that a word becomes when its variables are expanded."""
        return _VARIABLE.sub(self._value, word).split() if "$" in word else [word]

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name is None:
            raise ScenarioError([f"tc: {shown(found.string)} is not a plain variable; write its value"])
        value = self._variables.get(name)
        if value is None:
            raise ScenarioError(
                [f"tc: ${name} has no plain value before this line; write it, as in {name}=eth0"]
            )
        return value

    def _run(self, number: int, operator: str, words: Sequence[str], space: str = "") -> None:
        """Process one command. `space` is the prefix of the command's network namespace."""
        while words[0] == "sudo":
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
            if not words:
                return
        command = words[0].rpartition("/")[2]
        if command in ("ip", "ifconfig") and list(words[1:3]) == ["netns", "exec"] and len(words) > 4:
            self._run(number, operator, words[4:], f"{words[3]}/")
        elif command == "tc" or (command in _KINDS and len(words) > 1 and words[1] in ADDED):
            if operator in ("|", "||"):
                raise ScenarioError(
                    [f'tc: "{operator}" is not supported; write the lines of tc that are run']
                )
            self._tc(number, words[1:] if command == "tc" else words, space)
        elif command in _LEFT_OUT or (command in ("ip", "ifconfig") and _WITH_EFFECT.intersection(words)):
            self._assembly.notes.append(f"line {number} is left out: {' '.join(words)[:100]}")
        elif command not in (*_IGNORED, "ip", "ifconfig") and operator != "|":
            raise ScenarioError([f"{shown(' '.join(words)[:80])} is not a command of tc; leave it out"])

    def _tc(self, number: int, words: Sequence[str], space: str) -> None:
        while words and words[0].startswith("-"):
            if words[0].startswith(("-b", "-force")):
                raise ScenarioError(["tc: batch files are not read; write the lines of the batch"])
            if words[0] in ("-n", "-net", "-netns"):
                space, words = f"{''.join(words[1:2])}/", words[1:]
            words = words[1:]
        if len(words) < 2 or words[1] in _OTHER_ACTIONS:
            return
        kind, action = words[:2]
        if action not in ADDED or kind not in _KINDS:
            raise ScenarioError([f"tc: {shown(f'{kind} {action}'[:80])} is not understood"])
        name = after(words, "dev")
        if not name:
            raise ScenarioError(["tc: the line names no device"])
        name = f"{space}{name}"
        match kind:
            case "qdisc":
                self._assembly.add_qdisc(number, name, line_of(words[2:]), action == "change")
            case "class":
                self._assembly.add_class(name, words[2:])
            case _:
                self._assembly.add_filter(name, words[2:], f"tc {' '.join(words)}")


def _commands(line: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a line, each after the operator before it: "|", "||", "&&", or "" for others."""
    if "<<" in line:
        raise ScenarioError(["tc: here-documents (<<) are not read; write their lines as lines of tc"])
    lexer = shlex.shlex(_REDIRECTION.sub(" ", line), posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split = True
    operator, words = "", list[str]()
    try:
        for token in lexer:
            if token.strip(_OPERATORS) or not token:
                words.append(token)
                continue
            if words:
                yield operator, words
            operator, words = token if token in ("|", "||", "&&") else "", []
    except ValueError:
        raise ScenarioError(["a quote is not closed"]) from None
    if words:
        yield operator, words
