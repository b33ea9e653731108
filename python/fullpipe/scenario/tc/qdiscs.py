"""Conversion of a queue discipline of `tc` to a queue of a scenario.

>>> queue_of("tc qdisc add dev eth0 root tbf rate 20mbit burst 1600 limit 100k")
{'kind': 'tbf', 'rate_bps': 20000000, 'burst_bytes': 1600, 'limit_bytes': 102400}

Options that a line leaves out have the kernel's defaults, as the queues of fullpipe have the same defaults.
"""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fullpipe.errors import ScenarioError, UnknownNameError, shown, suggestion
from fullpipe.scenario.model.link.queues import Queue
from fullpipe.scenario.tc.options import ELSEWHERE, QDISCS, Qdisc
from fullpipe.scenario.tc.units import decimal

Table = dict[str, Any]
MAX_LINE = 2_000
ADDED = ("add", "replace", "change")
"""Actions of `tc` that set up a qdisc, class or filter."""
_WITH_VALUE = ("dev", "parent", "handle", "refcnt", "ingress_block", "egress_block")
_ALONE = ("root", "offloaded")
_STAB = ("mtu", "tsize", "mpu", "overhead", "linklayer")
_ETHERNET_BYTES = 14
"""Ethernet header, which the size of a packet at a qdisc includes (Linux `skb->len`)."""
_FORM = "tc: expected a line such as: tc qdisc add dev eth0 root codel limit 1000"


@dataclass(frozen=True)
class Line:
    """A queue discipline from a command line or from the output of `tc qdisc show`."""

    kind: str
    options: tuple[str, ...] = ()
    device: str = ""
    parent: str = ""
    """Parent class. Empty: the root of the device."""
    handle: str = ""
    stab: tuple[str, ...] = ()
    """Words after `stab`. These words define how sizes of packets are counted."""

    @property
    def stab_left_out(self) -> str:
        """Note for a queue discipline whose counterpart in fullpipe cannot have a size table."""
        return f"stab {' '.join(self.stab)} is left out: links use tcp.link_overhead instead"


def line_of(words: Iterable[str]) -> Line:
    """Parse the words after `tc qdisc add`.

    Raises:
        ScenarioError: If the words name no queue discipline.
    """
    rest = deque(words)
    head, stab = _head(rest)
    if not rest:
        raise ScenarioError(["tc: the line names no queue; it goes on as in: root codel limit 1000"])
    return Line(rest.popleft(), tuple(rest), stab=stab, **head)


def printed(words: Sequence[str]) -> Line:
    """Parse a line that iproute2's `print_qdisc` prints: qdisc cake 8001: dev eth0 root bandwidth 18Mbit."""
    rest = deque(words[3:])
    head, stab = _head(rest)
    return Line(words[1], tuple(rest), stab=stab, **{**head, "handle": words[2]})


def is_printed(words: Sequence[str]) -> bool:
    """Whether words are a qdisc line in the output of `tc qdisc show`."""
    return len(words) > 2 and words[0] == "qdisc" and re.fullmatch("[0-9a-f]*:", words[2]) is not None


def _head(rest: deque[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Remove the words before the kind from `rest`. Return their values, and the words of `stab`."""
    said: dict[str, str] = {}
    stab: list[str] = []
    while rest and rest[0] in (*_WITH_VALUE, *_ALONE, "stab"):
        word = rest.popleft()
        if word in _WITH_VALUE:
            said[word] = rest.popleft() if rest else ""
        while word == "stab" and len(rest) > 1 and rest[0] in _STAB:
            stab += (rest.popleft(), rest.popleft())
    parent = said.get("parent", "")
    head = {"device": said.get("dev", ""), "parent": "" if parent == "root" else parent}
    return {**head, "handle": said.get("handle", "")}, tuple(stab)


def queue_of(line: str) -> Table:
    """Return the queue of a scenario that corresponds to a line of `tc`.

    Args:
        line: `tc qdisc add dev eth0 root ...`, or `tc filter ... police ...` for a policer.

    Returns:
        The table `queue` of a link, as in a scenario file.

    Raises:
        ScenarioError: If the line has another form, or an option is unknown, malformed or not modelled.
        UnknownNameError: If the queue discipline is unknown.
    """
    return queue(read(line))[0]


def read(line: str) -> Line:
    """Parse a line of `tc` into kind, device, parent and options. The options are not parsed.

    Raises:
        ScenarioError: If the line has another form.
    """
    if len(line) > MAX_LINE:
        raise ScenarioError([f"tc: the line is longer than {MAX_LINE} characters"])
    words = line.split()
    if is_printed(words):
        return printed(words)
    rest = iter(words)
    if "filter" in words and "police" in words:
        next(word for word in rest if word == "police")
        return policer(rest)
    if not any(word == "qdisc" for word in rest) or next(rest, "") not in ADDED:
        raise ScenarioError([_FORM])
    return line_of(rest)


def policer(words: Iterable[str]) -> Line:
    """Return the policer that the words after `police` describe."""
    return Line("police", tuple(takewhile(lambda word: word != "flowid", words)))


def queue(line: Line, has_ethernet: bool = True) -> tuple[Table, list[str]]:
    """Return the table `queue` of a link, and notes on features without a counterpart.

    Args:
        line: The queue discipline.
        has_ethernet: Whether the device sends Ethernet frames.

    Raises:
        ScenarioError: If an option is unknown, malformed or not modelled.
        UnknownNameError: If the queue discipline is unknown.
    """
    kind = line.kind
    if kind in ELSEWHERE:
        raise ScenarioError([f"tc: {kind} has no counterpart; {ELSEWHERE[kind]}"])
    if kind not in QDISCS:
        raise UnknownNameError("qdisc", kind, QDISCS)
    qdisc = QDISCS[kind]
    notes = [qdisc.note] if qdisc.note else []
    try:
        table = {"kind": qdisc.queue, **_parameters(kind, qdisc, line.options)}
        if line.stab and qdisc.queue == "cake":
            table |= _counted(table, line.stab, has_ethernet)
        elif line.stab:
            notes.append(line.stab_left_out)
        TypeAdapter[Any](Queue).validate_python(table)
    except ValidationError as error:
        lines = [problem["msg"].removeprefix("Value error, ") for problem in error.errors()]
        raise ScenarioError([f"tc {kind}: {problem}" for problem in lines]) from None
    except ValueError as error:
        raise ScenarioError([f"tc {kind}: {error}"]) from None
    return table, notes


def _parameters(kind: str, qdisc: Qdisc, options: Sequence[str]) -> Table:
    found: Table = dict(qdisc.defaults)
    words = deque(options)
    while words:
        word = words.popleft()
        if word in qdisc.flags:
            for key, value in qdisc.flags[word].items():
                _set(found, key, value)
        elif word in qdisc.options:
            key, read_value = qdisc.options[word]
            if not words:
                raise ValueError(f"{word} needs a value")
            try:
                value = read_value(words.popleft())
            except ValueError as error:
                raise ValueError(f"{word}: {error}") from None
            found.pop(key, None)
            _set(found, key, value)
        elif any(_takes(words, usual) for usual in qdisc.usual.get(word, ())):
            continue
        elif word in qdisc.not_modelled:
            raise ValueError(f"{word} is not modelled; {qdisc.not_modelled[word]}")
        else:
            known = [*qdisc.options, *qdisc.flags]
            raise ValueError(f"unknown option {shown(word)} of {kind}{suggestion(word, known)}")
    missing = [names for names, keys in qdisc.needed.items() if not any(key in found for key in keys)]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return qdisc.finish(found)


def _takes(words: deque[str], usual: str) -> bool:
    """Remove the ignored values `usual` if `words` begin with them, and return whether values were removed.

    Older versions of tc print "10s" as "10.0s".
    """
    values = usual.split()
    there = [re.sub(r"\.0(?=[a-z])", "", word) for word in islice(words, len(values))]
    if there != values:
        return False
    for _ in values:
        words.popleft()
    return True


def _set(found: Table, key: str, value: Any) -> None:
    """Set a parameter. A value of None removes the parameter. Overheads add up, as in `ethernet
    ether-vlan`."""
    if value is None:
        found.pop(key, None)
    elif key == "overhead":
        found[key] = found.get(key, 0) + value
    else:
        found[key] = value


def _counted(cake: Table, stab: Sequence[str], has_ethernet: bool) -> Table:
    """Return the parameters of CAKE that correspond to a size table (`stab`).

    CAKE takes the size of packets from the table (Linux `cake_overhead`, `qdisc_calculate_pkt_len`). A size
    in the table includes the header of the device. CAKE's own overhead is added to the size from the IP
    header on.
    """
    if cake.keys() & {"overhead", "mpu", "framing"}:
        raise ValueError("stab together with an overhead of CAKE is not modelled; give one of them")
    said = dict(zip(stab[::2], stab[1::2], strict=True))
    layer = said.get("linklayer", "ethernet")
    if layer not in ("ethernet", "atm", "adsl"):
        raise ValueError(f"stab linklayer: expected ethernet, atm or adsl, got {shown(layer)}")
    header = _ETHERNET_BYTES if has_ethernet else 0
    return {
        "overhead": decimal(said.get("overhead", "0")) + header,
        "mpu": decimal(said.get("mpu", "0")),
        **({} if layer == "ethernet" else {"framing": "atm"}),
    }
