"""Lines of a script that sets up a router: the root queues of its devices, and where it sends what comes.

tc qdisc replace dev eth0 root cake bandwidth 9mbit
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0
tc qdisc replace dev ifb0 root cake bandwidth 90mbit ingress
"""

import re
import shlex
from dataclasses import dataclass, field

from fullpipe.errors import FullpipeError, ScenarioError, shown
from fullpipe.scenario.tc.qdiscs import queue_of
from fullpipe.scenario.tc.router import Router, Shaper
from fullpipe.scenario.tc.units import rate

_ADDED = ("add", "replace", "change")
_HOOKS = ("ingress", "clsact")
_MOST_LINES = 1_000


@dataclass
class _Device:
    """What lines say of a device."""

    shapers: list[Shaper] = field(default_factory=list)
    rates_bps: dict[str, int] = field(default_factory=dict)
    """Of the classes of an HTB."""
    is_htb: bool = False
    redirects_to: str = ""


def router_of(text: str) -> Router:
    """What a script sets up.

    Raises:
        ScenarioError: If a line is not understood, or it is not said which device is towards the line.
    """
    lines = text.replace("\\\n", " ").splitlines()
    if len(lines) > _MOST_LINES:
        raise ScenarioError([f"tc: the file has more than {_MOST_LINES:,} lines"])
    devices: dict[str, _Device] = {}
    router = Router()
    for number, line in enumerate(lines, 1):
        try:
            _read(line, devices, router)
        except FullpipeError as error:
            told = error.problems if isinstance(error, ScenarioError) else [str(error)]
            raise ScenarioError([f"line {number}: {problem}" for problem in told]) from None
    shaped = {name: _only(name, of) for name, of in devices.items()}
    for name, of in devices.items():
        if of.redirects_to and of.redirects_to in shaped:
            router.up, router.down = shaped[name], shaped[of.redirects_to]
            return router
    names = [name for name, shaper in shaped.items() if shaper]
    if len(names) > 1:
        raise ScenarioError(
            [f"tc: no filter redirects what comes, so that {' and '.join(names)} are not told apart"]
        )
    if not names:
        raise ScenarioError(
            ["tc: no line sets up a queue, as in: tc qdisc replace dev eth0 root cake bandwidth 9mbit"]
        )
    router.up = shaped[names[0]]
    comes = "" if router.down else "; nothing shapes what comes"
    router.notes.append(f"{names[0]} is taken for the device towards the line{comes}")
    return router


def _read(line: str, devices: dict[str, _Device], router: Router) -> None:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        raise ScenarioError(["a quote is not closed"]) from None
    words = [word for n, word in enumerate(words) if n or word != "sudo"]
    if not words or words[0] in ("modprobe", "ip", "ifconfig", "#!/bin/sh", "set"):
        return
    if words[0].rpartition("/")[2] != "tc" or len(words) < 3:
        raise ScenarioError([f"{shown(line.strip()[:80])} is no line of tc"])
    kind, action = words[1:3]
    if action in ("del", "delete", "show"):
        return
    if action not in _ADDED or kind not in ("qdisc", "class", "filter"):
        raise ScenarioError([f"tc: {shown(f'{kind} {action}'[:80])} is not understood"])
    name = _after(words, "dev")
    if not name:
        raise ScenarioError(["tc: the line names no device"])
    device = devices.setdefault(name, _Device())
    {"qdisc": _qdisc, "class": _class, "filter": _filter}[kind](line, words, device, router)


def _qdisc(line: str, words: list[str], device: _Device, router: Router) -> None:
    if any(hook in words for hook in _HOOKS) and "root" not in words:
        return
    if "stab" in words:
        at = words.index("stab")
        kept = next((n for n in range(at + 1, len(words), 2) if words[n] not in _STAB), len(words))
        router.notes.append(f"{' '.join(words[at:kept])} is left out: links count tcp.link_overhead")
        words = [*words[:at], *words[kept:]]
    if "htb" in words:
        device.is_htb = True
        return
    parent = _after(words, "parent")
    if parent and parent != "root" and not device.is_htb:
        raise ScenarioError(
            [f"tc: a queue below {parent} is not modelled, unless that is the only class of htb"]
        )
    rate_bps = device.rates_bps.get(parent) if parent else None
    if parent and device.is_htb and rate_bps is None:
        raise ScenarioError([f"tc: class {shown(parent)} has no line with a rate"])
    device.shapers.append(Shaper(queue_of(" ".join(words)), rate_bps))


_STAB = ("mtu", "tsize", "mpu", "overhead", "linklayer")


def _class(line: str, words: list[str], device: _Device, router: Router) -> None:
    """What a class may send: its parent lends up to its ceiling, and one without a parent cannot borrow."""
    name, text = _after(words, "classid"), _after(words, "rate")
    if "htb" not in words or not name or not text:
        raise ScenarioError(["tc: a class is of htb and has a classid and a rate"])
    try:
        lent_bps = device.rates_bps.get(_after(words, "parent"))
        own_bps, most_bps = rate(text), rate(_after(words, "ceil") or text)
        device.rates_bps[name] = own_bps if lent_bps is None else max(own_bps, min(most_bps, lent_bps))
    except ValueError as error:
        raise ScenarioError([f"tc: {error}"]) from None


def _filter(line: str, words: list[str], device: _Device, router: Router) -> None:
    if "redirect" in words:
        device.redirects_to = _after(words[words.index("redirect") :], "dev")
    elif "police" in words:
        router.down = Shaper(queue_of(line))
    else:
        router.notes.append(
            f"{re.sub(r'[^ -~]', '?', line.strip())[:100]} is left out: packets have no classes by filters"
        )


def _after(words: list[str], word: str) -> str:
    """The word behind another; empty without."""
    at = words.index(word) + 1 if word in words else len(words)
    return words[at] if at < len(words) else ""


def _only(name: str, device: _Device) -> Shaper | None:
    if len(device.shapers) > 1:
        raise ScenarioError(
            [
                f"tc: {name} has {len(device.shapers)} queues; classes with queues of their own are not"
                " modelled"
            ]
        )
    return device.shapers[0] if device.shapers else None
