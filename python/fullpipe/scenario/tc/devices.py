"""Devices of a router, and the conversion of their qdiscs to a queue, a rate and a wire."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from fullpipe.errors import FullpipeError, ScenarioError, brief, shown
from fullpipe.scenario.model.link import LinkModel
from fullpipe.scenario.tc.netem import Netem, netem_of
from fullpipe.scenario.tc.options import TX_QUEUE_PACKETS
from fullpipe.scenario.tc.qdiscs import Line, queue

# Shapers of a router, one per direction.


Table = dict[str, Any]


@dataclass(frozen=True)
class Shaper:
    """One direction of a router: a queue, the rate at which it is served, and the wire behind it."""

    queue: Mapping[str, Any] = field(default_factory=dict)
    """Table `queue` of a link. Empty: packets never wait."""
    rate_bps: int | None = None
    """Rate at which the queue is served. None: the queue itself shapes, or the rate is unlimited."""
    wire: Mapping[str, Any] = field(default_factory=dict)
    """Delay, jitter, loss and other impairments behind the queue, as keys of a link."""

    @property
    def link(self) -> Table:
        """The equivalent link of a scenario."""
        return {
            **({} if self.rate_bps is None else {"rate": f"{self.rate_bps} bit/s"}),
            **self.wire,
            **({"queue": dict(self.queue)} if self.queue else {}),
        }


@dataclass
class Router:
    """The two directions of a router. A direction without a shaper is None."""

    up: Shaper | None = None
    down: Shaper | None = None
    notes: list[str] = field(default_factory=list)
    """Notes on omitted parts of the configuration and on assumptions, one line each."""


# Devices with the queue disciplines that lines of `tc` set up.
#
# Options are parsed only after all lines have been collected, as lines of a device can be in any order.


_SHAPERS = ("htb", "hfsc", "tbf", "netem")
_WITHOUT_ETHERNET = ("ppp", "pptp", "l2tp", "tun", "wg", "wwan", "ifb4ppp")
"""Prefixes of names of devices whose packets have no Ethernet header."""
_MOST_DEEP = 8
"""Maximum nesting of queues: that of HTB in Linux (`TC_HTB_MAXDEPTH`)."""
Id = tuple[int, int]
"""A handle or class: major and minor number."""


@contextmanager
def at_line(number: int) -> Iterator[None]:
    """Context in which errors get the prefix "line N: ". A number of 0 means no prefix."""
    try:
        yield
    except FullpipeError as error:
        problems = error.problems if isinstance(error, ScenarioError) else [str(error)]
        where = f"line {number}: " if number else ""
        told = [problem if problem.startswith("line ") else f"{where}{problem}" for problem in problems]
        raise ScenarioError(told) from None


def link_of(line: Line) -> Router:
    """Return the link that a single line of `tc` configures; it corresponds to the direction `up` of a
    router.

    Raises:
        ScenarioError: If an option is unknown, malformed or not modelled.
    """
    found = Router()
    device = Device(line.device)
    device.qdiscs[None] = (0, line)
    found.up = device.shaper(found.notes, line.device)
    return found


@dataclass(frozen=True)
class Class:
    """A class of HTB."""

    rate_bps: int
    ceil_bps: int
    parent: Id | None


@dataclass
class Device:
    """A network device, with the lines of `tc` that configure it."""

    name: str
    qdiscs: dict[Id | None, tuple[int, Line]] = field(default_factory=dict)
    """Queue disciplines with their line numbers, by parent class. None: the root of the device."""
    classes: dict[Id, Class] = field(default_factory=dict)
    """Classes of HTB by their IDs."""
    redirects_to: str = ""

    @property
    def is_ifb(self) -> bool:
        """Whether the device has the usual name of an IFB, which shapes incoming packets."""
        return self.name.rpartition("/")[2].startswith("ifb")

    @property
    def shapes(self) -> bool:
        """Whether the root qdisc limits or delays packets."""
        _, line = self.qdiscs.get(None, (0, Line("")))
        return line.kind in _SHAPERS or ("bandwidth" in line.options and "unlimited" not in line.options)

    def able_bps(self, at: Id) -> int | None:
        """Return the rate of an HTB class that borrows up to its ceiling; None if no line configures the
        class."""
        chain: list[Class] = []
        above: Id | None = at
        while above is not None and (one := self.classes.get(above)) is not None and one not in chain:
            chain.append(one)
            above = one.parent
        able_bps = None
        for one in reversed(chain):
            able_bps = one.rate_bps if able_bps is None else max(one.rate_bps, min(one.ceil_bps, able_bps))
        return able_bps

    def shaper(self, notes: list[str], origin: str) -> Shaper | None:
        """Return the shaper of the device, or None if no line sets up a queue.

        Args:
            notes: List to which notes on options without a counterpart are added.
            origin: The device that packets come from or go to. The name of this device shows whether packets
                have Ethernet headers.

        Raises:
            ScenarioError: If a line is not understood or not modelled.
        """
        if not self.qdiscs:
            return None
        tree = _Tree(self, notes, not origin.rpartition("/")[2].startswith(_WITHOUT_ETHERNET))
        root = tree.left.pop(None, None)
        found = None if root is None else tree.shaper(*root)
        if tree.left:
            number, line = next(iter(tree.left.values()))
            with at_line(number):
                raise ScenarioError([_not_below(line)])
        return found


class _Tree:
    """The tree of queue disciplines of a device."""

    def __init__(self, device: Device, notes: list[str], has_ethernet: bool) -> None:
        self.left = dict(device.qdiscs)
        """Lines that are not converted yet."""
        self._device = device
        self._notes = notes
        self._has_ethernet = has_ethernet
        self._depth = 0

    def shaper(self, number: int, line: Line, rate_bps: int | None = None) -> Shaper:
        """Return the shaper of a queue discipline and of the queue disciplines below it. `rate_bps` is the
        rate of a shaper above it in the tree."""
        with at_line(number):
            self._depth += 1
            if self._depth > _MOST_DEEP:
                raise ScenarioError([f"tc: queues are nested more than {_MOST_DEEP} deep"])
            below = self._below(line)
            if line.stab and line.kind in ("htb", "mq", "netem"):
                self._notes.append(line.stab_left_out)
            match line.kind:
                case "htb":
                    found = self._htb(line, below)
                case "mq":
                    found = self._mq(line, below)
                case "netem":
                    found = self._netem(line, below, rate_bps)
                case "cake_mq":  # the child queues are created by cake_mq itself
                    found = Shaper(self._queue(line), rate_bps)
                case "tbf" if [child.kind for _, child in below] == ["netem"]:
                    found = self._tbf_above_netem(line, below[0], rate_bps)
                case _:
                    if below:
                        raise ScenarioError([_not_below(below[0][1])])
                    found = Shaper(self._queue(line), rate_bps)
            return _checked(found)

    def _below(self, line: Line) -> list[tuple[int, Line]]:
        major = id_of(line.handle)[0]
        return [self.left.pop(at) for at in list(self.left) if at is not None and at[0] == major]

    def _queue(self, line: Line) -> Table:
        table, notes = queue(line, self._has_ethernet)
        self._notes += notes
        return table

    def _htb(self, line: Line, below: list[tuple[int, Line]]) -> Shaper:
        """Return the queue and the rate of the class that all packets pass."""
        classes, name = self._device.classes, self._device.name
        if not classes:
            return Shaper(self._queue(line))
        if len(below) > 1:
            raise ScenarioError(
                [f"tc: {name} has {len(below)} queues; classes with queues of their own are not modelled"]
            )
        if below:
            ((number, child),) = below
            rate_bps = self._device.able_bps(id_of(child.parent))
            if rate_bps is None:
                raise ScenarioError([f"tc: class {shown(child.parent)} has no line with a rate"])
            return self.shaper(number, child, rate_bps)
        parents = {one.parent for one in classes.values()}
        leaves = [at for at in classes if at not in parents]
        if len(leaves) != 1:
            raise ScenarioError(
                [f"tc: {name} has {len(leaves)} classes without a queue; keep the one that packets pass"]
            )
        # A class without a qdisc has a pfifo of the device's queue length (Linux `htb_change_class`).
        able_bps = self._device.able_bps(leaves[0])
        return Shaper({"kind": "drop_tail", "packets": TX_QUEUE_PACKETS}, able_bps)

    def _mq(self, line: Line, below: list[tuple[int, Line]]) -> Shaper:
        """Return one of the queues of mq; all of them must be equal. mq has a queue per transmit queue of a
        device."""
        if not below:
            return Shaper(self._queue(line))
        if len({(child.kind, child.options) for _, child in below}) > 1:
            raise ScenarioError([f"tc: {self._device.name} has different child queues of mq; keep one"])
        self._notes.append(f"mq: one of its {len(below)} equal queues is used")
        return self.shaper(*below[0])

    def _netem(self, line: Line, below: list[tuple[int, Line]], above_bps: int | None) -> Shaper:
        netem = self._read_netem(line)
        wire, rate_bps = netem.wire, _least(netem.rate_bps, above_bps)
        if len(below) > 1:
            raise ScenarioError([f"tc: {self._device.name} has {len(below)} queues below netem; keep one"])
        if below:
            child = self.shaper(*below[0])
            if child.wire:
                raise ScenarioError([_not_below(below[0][1])])
            shapes = child.rate_bps is not None or bool(child.queue.keys() & {"rate_bps", "bandwidth_bps"})
            if shapes or netem.rate_bps is None:
                self._notes.append(f"netem: limit {netem.limit} is left out: the child queue has the limit")
                return Shaper(child.queue, _least(rate_bps, child.rate_bps), wire)
            kind = below[0][1].kind
            self._notes.append(f"{kind}, the child of netem, is left out: packets wait in netem")
        if rate_bps is None:
            self._notes.append(
                f"netem: limit {netem.limit} is left out: without a rate no packet waits, and packets on the"
                " wire do not count towards a queue's limit"
            )
            return Shaper(wire=wire)
        self._notes.append(f"netem: limit {netem.limit} counts waiting packets, not packets on the wire")
        return Shaper({"kind": "drop_tail", "packets": netem.limit}, rate_bps, wire)

    def _tbf_above_netem(self, line: Line, below: tuple[int, Line], above_bps: int | None) -> Shaper:
        """Return a tbf with netem below it. netem replaces the queue and the limit of tbf (Linux
        `tbf_change`, `tbf_graft`)."""
        table = self._queue(line)
        number, child = below
        with at_line(number):
            if further := self._below(child):
                raise ScenarioError([_not_below(further[0][1])])
            netem = self._read_netem(child)
        del table["limit_bytes"]
        self._notes.append(
            "tbf: limit and latency have no effect with the child netem;"
            f" netem's limit, {netem.limit}, counts waiting packets"
        )
        return Shaper({**table, "packets": netem.limit}, _least(netem.rate_bps, above_bps), netem.wire)

    def _read_netem(self, line: Line) -> Netem:
        try:
            netem = netem_of(line.options)
        except ValueError as error:
            raise ScenarioError([f"tc netem: {error}"]) from None
        self._notes += netem.notes
        return netem


def id_of(text: str) -> Id:
    """Parse a handle or class ID with hexadecimal numbers. "1:" and "1:0" are equal.

    Raises:
        ScenarioError: If the text is neither a handle nor a class ID.
    """
    major, _, minor = text.partition(":")
    try:
        return int(major or "0", 16), int(minor or "0", 16)
    except ValueError:
        raise ScenarioError([f"tc: expected a handle such as 1: or 1:10, got {shown(text)}"]) from None


def _least(*rates_bps: int | None) -> int | None:
    return min((bps for bps in rates_bps if bps is not None), default=None)


def _checked(found: Shaper) -> Shaper:
    """Return a shaper, or raise ScenarioError if no link can represent it."""
    try:
        LinkModel.model_validate(found.link)
    except ValidationError as error:
        problems = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
        raise ScenarioError(
            [f"tc: {where}: {what.removeprefix('Value error, ')}" for where, what in problems]
        ) from None
    return found


def _not_below(line: Line) -> str:
    return f"tc: a queue below {brief(line.parent)} is modelled only if this is the only class of htb"
