"""Assembly of a router from the `tc` lines of all its devices, and of a scenario around the router."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from fullpipe.errors import ScenarioError, brief, visible
from fullpipe.scenario.model.link.queues import Discipline, Queue
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.scenario import Scenario
from fullpipe.scenario.tc.devices import Class, Device, Router, Shaper, Table, id_of
from fullpipe.scenario.tc.qdiscs import Line, policer, queue
from fullpipe.scenario.tc.units import rate

_NO_QUEUE = ("ingress", "clsact", "noqueue")
_COUNTED = ("overhead", "mpu", "linklayer")
"""Options of an HTB class that change how the sizes of packets are counted."""
_SOME_PACKETS = frozenset(("match", "flower", "fw", "basic", "bpf", "route"))
"""Words of filters that select some of the packets."""
_ALL_PACKETS = re.compile(r"match (u32 0 0|ip (src|dst) 0\.0\.0\.0/0|ip protocol 0 0(x00)?)\b")
"""Matches that select every IPv4 packet."""


class Assembly:
    """Collected lines of `tc`, from which `router` derives a router."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._devices: dict[str, Device] = {}
        self._policers: dict[str, tuple[str, Shaper]] = {}
        """Policers by direction, with the names of their devices."""

    def add_qdisc(self, number: int, name: str, line: Line, changes: bool = False) -> None:
        """Add a queue discipline of a device. With `changes`, the child classes and qdiscs remain."""
        if line.kind in _NO_QUEUE:
            return
        device = self._device(name)
        at = id_of(line.parent) if line.parent else None
        if at in device.qdiscs:
            before, _ = device.qdiscs[at]
            self.notes.append(f"line {number} replaces line {before}")
            if at is None and not changes:
                device.qdiscs.clear()
                device.classes.clear()
        device.qdiscs[at] = (number, line)

    def add_class(self, name: str, words: Sequence[str]) -> None:
        """Add a class of HTB from the words after `tc class add`."""
        classid, text = after(words, "classid"), after(words, "rate")
        if "htb" not in words or not classid or not text:
            raise ScenarioError(["tc: expected a class of htb with classid and rate"])
        parent = after(words, "parent")
        try:
            rate_bps, ceil_bps = rate(text), rate(after(words, "ceil") or text)
        except ValueError as error:
            raise ScenarioError([f"tc: {error}"]) from None
        if left := [word for word in _COUNTED if word in words]:
            said = ", ".join(left)
            text = f"{said} of class {brief(classid)}: left out"
            self.notes.append(f"{text}, because links use tcp.link_overhead instead")
        above = id_of(parent) if parent else None
        self._device(name).classes[id_of(classid)] = Class(rate_bps, ceil_bps, above)

    def add_filter(self, name: str, words: Sequence[str], text: str) -> None:
        """Add a filter that redirects or polices packets. Other filters become notes."""
        if "redirect" in words:
            space = name[: name.rfind("/") + 1]
            self.redirect(name, space + after(words[words.index("redirect") :], "dev"))
        elif "police" in words:
            at = words.index("police")
            self.police(name, policer(words[at + 1 :]), words[:at])
        else:
            self.notes.append(f"{_quoted(text)} is left out: in a scenario, filters do not classify packets")

    def redirect(self, name: str, target: str) -> None:
        """Redirect incoming packets of a device to another device (IFB)."""
        self._device(name).redirects_to = target

    def police(self, name: str, line: Line, words: Sequence[str] = ()) -> None:
        """Add a policer with the words of its filter."""
        parent = after(words, "parent")
        leaves = "egress" in words or (parent != "" and id_of(parent)[0] != 0xFFFF)
        if _SOME_PACKETS.intersection(words) and not _ALL_PACKETS.search(" ".join(words)):
            self.notes.append(f"the policer of {name} is applied to all packets, whatever its filter matches")
        self._policers["up" if leaves else "down"] = (name, Shaper(queue(line)[0]))

    def router(self) -> Router:
        """Return the router that the collected lines configure.

        Raises:
            ScenarioError: If a line is not understood, or several devices may be at the access line.
        """
        router = Router(notes=self.notes)
        assumed = self._shape(router)
        for direction, (name, shaper) in self._policers.items():
            if getattr(router, direction) is None:
                setattr(router, direction, shaper)
                assumed = assumed or f"{name} is assumed to be the device at the access line"
            else:
                router.notes.append(f"the policer of {name} is left out: a queue shapes the same packets")
        if router.up is None and router.down is None:
            raise ScenarioError(
                ["tc: no line sets up a queue, as in: tc qdisc replace dev eth0 root cake bandwidth 9mbit"]
            )
        if assumed:
            missing = "incoming" if router.down is None else "outgoing" if router.up is None else ""
            router.notes.append(assumed + (f"; nothing shapes {missing} packets" if missing else ""))
        return router

    def _shape(self, router: Router) -> str:
        """Set the shapers of the router. Return a note on each device that is assumed to carry outgoing or
        incoming packets."""
        there = [device for device in self._devices.values() if device.qdiscs]
        for device in self._devices.values():
            target = self._devices.get(device.redirects_to)
            if target is not None and target.qdiscs:
                router.up = device.shaper(self.notes, device.name)
                router.down = target.shaper(self.notes, device.name)
                self._leave_out([one for one in there if one not in (device, target)])
                return ""
        if shapers := [device for device in there if device.shapes]:
            self._leave_out([device for device in there if not device.shapes])
            there = shapers
        leaving = [device for device in there if not device.is_ifb]
        coming = [device for device in there if device.is_ifb]
        if len(leaving) > 1 or len(coming) > 1:
            names = brief(" and ".join(device.name for device in there))
            raise ScenarioError(
                [f"tc: no filter redirects incoming packets, so {names} cannot be distinguished; keep one"]
            )
        assumed = []
        for device in leaving:
            router.up = device.shaper(self.notes, device.name)
            assumed.append(f"{device.name} is assumed to be the device at the access line")
        for device in coming:
            router.down = device.shaper(self.notes, device.name)
            assumed.append(f"{device.name} is assumed to carry incoming packets")
        return ", ".join(assumed)

    def _leave_out(self, devices: Sequence[Device]) -> None:
        if devices:
            names = brief(", ".join(device.name for device in devices))
            self.notes.append(f"queues of {names} are left out: they shape nothing, or belong to other ports")

    def _device(self, name: str) -> Device:
        return self._devices.setdefault(name, Device(name))


def after(words: Sequence[str], word: str) -> str:
    """Return the word after a given word, or ""."""
    at = words.index(word) + 1 if word in words else len(words)
    return words[at] if at < len(words) else ""


def _quoted(line: str) -> str:
    return visible(line.strip())[:100]


# A scenario of an access line behind a router that shapes one or both directions.


_DELAY_S = 0.01
"""Default one-way delay of an access line."""
_OF_LINE = ("rate", "delay", "queue", "device_queue")


def scenario_of(router: Router, line: Scenario | None = None) -> Scenario:
    """Return a scenario of a download, an upload and a ping through a router and an access line.

    A direction without a rate limit has no flow.

    Args:
        router: The shapers of the router, one per direction.
        line: Scenario of the access line behind the router, a dumbbell. None: an access line without a rate
            limit, with a base RTT of 20 ms, or of 0 if the router itself delays packets.

    Raises:
        ScenarioError: If the scenario `line` is not a dumbbell of two links, or no direction has a rate.
    """
    shaped_down: Table = router.down.link if router.down else {}
    shaped_up: Table = router.up.link if router.up else {}
    down, up = _line(line, "delay" in shaped_down or "delay" in shaped_up)
    links: Sequence[Table] = [
        {"name": "line-down", "from": "server", "to": "router", **down},
        {"name": "shaper-down", "from": "router", "to": "client", **shaped_down},
        {"name": "shaper-up", "from": "client", "to": "router", **shaped_up},
        {"name": "line-up", "from": "router", "to": "server", **up},
    ]
    ends = {"from": "client", "to": "server"}
    flows: list[Table] = []
    if any(map(has_rate, (down, shaped_down))):
        flows.append({"name": "download", "cca": "cubic", "from": "server", "to": "client"})
    if any(map(has_rate, (shaped_up, up))):
        flows.append({"name": "upload", "cca": "cubic", **ends})
    if not flows:
        raise ScenarioError(
            ["tc: no queue has a rate, so nothing limits a flow; name the access line, as in --line dsl"]
        )
    return Scenario(
        name="shaped",
        duration="30 s",
        warmup="5 s",
        topology={"kind": "graph", "nodes": ["server", "router", "client"], "links": links},
        flows=[*flows, {"name": "ping", "workload": {"kind": "ping", "interval": "200 ms"}, **ends}],
    )


def has_rate(link: Table) -> bool:
    """Whether a link has a rate, by itself or by the shaper in its queue."""
    queue = TypeAdapter[Any](Queue).validate_python(link["queue"]) if "queue" in link else None
    return "rate" in link or (isinstance(queue, Discipline) and queue.rate_bps is not None)


def _line(line: Scenario | None, has_delay: bool) -> tuple[Table, Table]:
    """Return the links of the access line, down and up. Without an access line, a router with a delay is the
    whole path."""
    if line is None and has_delay:
        return {}, {}
    if line is None:
        return {"delay": f"{_DELAY_S} s"}, {"delay": f"{_DELAY_S} s"}
    topology = line.topology
    if not isinstance(topology, Dumbbell) or topology.bottleneck.cell:
        raise ScenarioError([f'line "{line.name}": must be a dumbbell of two links, without a cell'])
    tree = line.to_dict()["topology"]
    there = tree["bottleneck"]
    back = tree.get("reverse") or {key: there[key] for key in ("rate", "delay", "queue") if key in there}
    for where, link in (("bottleneck", there), ("reverse", back)):
        if left := sorted(link.keys() - set(_OF_LINE)):
            raise ScenarioError([f'line "{line.name}": {where}.{left[0]} is not supported; leave it out'])
    return dict(there), dict(back)
