"""Parsing of the output of `tc qdisc show`, `tc class show` and `tc filter show`, with or without `-s`.

qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 18Mbit diffserv3 triple-isolate nonat nowash rtt 100ms noatm
 Sent 12054 bytes 117 pkt (dropped 0, overlimits 0 requeues 0)

Lines that begin with none of the three words are statistics or shell prompts and are skipped.
"""

import re
from collections.abc import Iterable, Sequence

from fullpipe.errors import ScenarioError
from fullpipe.scenario.tc import qdiscs
from fullpipe.scenario.tc.assembly import Assembly, after
from fullpipe.scenario.tc.devices import at_line
from fullpipe.scenario.tc.qdiscs import MAX_LINE

_UNNAMED = "this device"
_REDIRECTED = re.compile(r"\(Egress Redirect to device ([^\s)]+)\)")
_POLICED = re.compile(r"police 0x[0-9a-f]+ rate (\S+) burst (\S+)")


def is_printed(lines: Iterable[str]) -> bool:
    """Whether one of the lines is output of `tc qdisc show`."""
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
    """Add a line and return the name of its device. Lines lack it if `tc` was called for one device."""
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
