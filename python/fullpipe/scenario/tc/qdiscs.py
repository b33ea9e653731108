"""Linux's queue disciplines as `tc` configures them, turned into queues of a scenario.

>>> queue_of("tc qdisc add dev eth0 root tbf rate 20mbit burst 1600 limit 100k")
{'kind': 'tbf', 'rate_bps': 20000000, 'burst_bytes': 1600, 'limit_bytes': 102400}

What `tc` does not say has the kernel's default, which is also that of the queue here.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fullpipe.errors import ScenarioError, UnknownNameError, shown, suggestion
from fullpipe.scenario.model.link.queues import Queue
from fullpipe.scenario.tc.options import ELSEWHERE, QDISCS, Qdisc

MAX_LINE = 2_000
_WITH_VALUE = {"dev", "parent", "handle"}


def queue_of(line: str) -> dict[str, Any]:
    """The queue of a scenario that does what a line of `tc` sets up.

    Args:
        line: `tc qdisc add dev eth0 root ...`, or `tc filter ... police ...` for a policer.

    Returns:
        The table `queue` of a link, as a scenario file has it.

    Raises:
        ScenarioError: If the line is not of that form, or an option is unknown, malformed or not modelled.
        UnknownNameError: If there is no such queue.
    """
    if len(line) > MAX_LINE:
        raise ScenarioError([f"tc: the line is longer than {MAX_LINE} characters"])
    kind, words = _qdisc(line.split())
    qdisc = QDISCS[kind]
    try:
        table = {"kind": qdisc.queue, **_parameters(kind, qdisc, words)}
        TypeAdapter[Any](Queue).validate_python(table)
    except ValidationError as error:
        lines = [problem["msg"].removeprefix("Value error, ") for problem in error.errors()]
        raise ScenarioError([f"tc {kind}: {problem}" for problem in lines]) from None
    except ValueError as error:
        raise ScenarioError([f"tc {kind}: {error}"]) from None
    return table


def _qdisc(words: list[str]) -> tuple[str, Iterator[str]]:
    """The kind of queue, and what is said of it."""
    rest = iter(words)
    if "filter" in words and "police" in words:
        next(word for word in rest if word == "police")
        return "police", takewhile(lambda word: word != "flowid", rest)
    if not any(word == "qdisc" for word in rest) or next(rest, "") not in ("add", "replace", "change"):
        raise ScenarioError(["tc: expected a line such as: tc qdisc add dev eth0 root codel limit 1000"])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, "")
        elif word != "root":
            if word in ELSEWHERE:
                raise ScenarioError([f"tc: {word} is not a queue here; {ELSEWHERE[word]}"])
            if word not in QDISCS:
                raise UnknownNameError("qdisc", word, QDISCS)
            return word, rest
    raise ScenarioError(["tc: the line names no queue; it goes on as in: root codel limit 1000"])


def _parameters(kind: str, qdisc: Qdisc, words: Iterator[str]) -> dict[str, Any]:
    found: dict[str, Any] = dict(qdisc.defaults)
    for word in words:
        if word in qdisc.flags:
            for key, value in qdisc.flags[word].items():
                _set(found, key, value)
        elif word in qdisc.options:
            key, read = qdisc.options[word]
            text = next(words, None)
            if text is None:
                raise ValueError(f"{word} needs a value")
            try:
                found[key] = read(text)
            except ValueError as error:
                raise ValueError(f"{word}: {error}") from None
        elif word in qdisc.not_modelled:
            raise ValueError(f"{word} is not modelled; {qdisc.not_modelled[word]}")
        else:
            known = [*qdisc.options, *qdisc.flags]
            raise ValueError(f"unknown option {shown(word)} of {kind}{suggestion(word, known)}")
    missing = [names for names, keys in qdisc.needed.items() if not any(key in found for key in keys)]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return qdisc.finish(found)


def _set(found: dict[str, Any], key: str, value: Any) -> None:
    """None takes a parameter back; overheads add up, as in `ethernet ether-vlan`."""
    if value is None:
        found.pop(key, None)
    elif key == "overhead":
        found[key] = found.get(key, 0) + value
    else:
        found[key] = value
