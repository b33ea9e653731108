"""Conversion of `netem` to keys of a link: delay, jitter, loss, duplication, reordering and rate.

Sources: tc-netem(8), iproute2 `netem_parse_opt`, Linux net/sched/sch_netem.c.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.quantities import DURATION
from fullpipe.scenario.tc.units import is_bare, nanoseconds, probability, rate, size, whole

Table = dict[str, Any]
DEFAULT_LIMIT = 1000
"""Default limit in packets (iproute2 `netem_parse_opt`)."""
_OPTIONS = (
    *("limit", "latency", "delay", "loss", "drop", "seed", "ecn", "reorder", "corrupt", "gap"),
    *("duplicate", "distribution", "rate", "slot", "packetoverhead", "cellsize", "celloverhead"),
)
"""Options in the order in which iproute2's `netem_parse_opt` compares them. The function accepts an
abbreviated option, and takes the first option that begins with it."""
_PRINTED = ("p13", "p31", "p32", "p23", "p14", "p", "r", "1-h", "1-k")
"""Names that `netem_print_opt` prints before the probabilities of a loss model."""
_MOST_U32 = 2**32 - 1
_MICROSECOND = 1_000
_Value = TypeVar("_Value")


@dataclass
class Netem:
    """The options of a netem line."""

    limit: int = DEFAULT_LIMIT
    """Limit in packets, including packets that are on the wire (delayed)."""
    rate_bps: int | None = None
    delay_ns: int = 0
    jitter_ns: int = 0
    distribution: str = "uniform"
    loss: Table | None = None
    corrupt: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    gap: int = 0
    notes: list[str] = field(default_factory=list)
    """Notes on omitted and approximated options, one line each."""

    @property
    def wire(self) -> Table:
        """The keys `delay`, `jitter`, `loss`, `duplicate` and `reordering` of a link."""
        delay_ns, jitter = self._delays()
        keys = {
            "delay": DURATION.format(delay_ns) if delay_ns else None,
            "jitter": jitter,
            "loss": self._loss(),
            "duplicate": self.duplicate,
            "reordering": self._reordering() if self.reorder else None,
        }
        return {key: value for key, value in keys.items() if value}

    @property
    def half_ns(self) -> int:
        """Half the range of the jitter in ns. A uniform distribution with standard deviation s has the range
        +-sqrt(3) s, which is rounded to whole us."""
        if self.distribution == "uniform":
            return self.jitter_ns
        return round(math.sqrt(3) * self.jitter_ns / _MICROSECOND) * _MICROSECOND

    def _delays(self) -> tuple[int, Table | None]:
        """Return the smallest delay in ns, and the jitter as the spread above this delay. Linux's `tabledist`
        draws from delay +- jitter."""
        half_ns = self.half_ns
        least_ns = max(0, self.delay_ns - half_ns)
        if not half_ns:
            return self.delay_ns, None
        jitter: Table = {"spread": DURATION.format(self.delay_ns + half_ns - least_ns)}
        # With a rate, packets leave in order (`netem_enqueue`).
        return least_ns, jitter if self.rate_bps else {**jitter, "reorder": True}

    def _loss(self) -> Table | None:
        """Return the loss, including corrupted packets, since the receiver drops packets with a wrong
        checksum."""
        rest = 1 - self.corrupt
        if self.loss is None:
            return {"kind": "bernoulli", "probability": self.corrupt} if self.corrupt else None
        if not self.corrupt:
            return self.loss
        if self.loss["kind"] == "bernoulli":
            return {**self.loss, "probability": 1 - rest * (1 - self.loss["probability"])}
        good, bad = self.loss.get("good", 0.0), self.loss.get("bad", 1.0)
        return {**self.loss, "good": 1 - rest * (1 - good), "bad": 1 - rest * (1 - bad)}

    @property
    def reordered_every(self) -> int:
        """Mean number of packets from one packet that skips the delay to the next packet that skips it.

        After a packet that skips the delay, the next gap - 1 packets never skip it. Each later packet skips
        it with probability `reorder` (`netem_enqueue`).
        """
        return round(max(1, self.gap) - 1 + 1 / self.reorder)

    def _reordering(self) -> Table:
        return {"every": self.reordered_every, "extra": DURATION.format(self.delay_ns)}


def netem_of(words: Iterable[str]) -> Netem:
    """Parse the words after `netem`.

    Raises:
        ValueError: If an option is unknown or malformed, or options do not fit together.
    """
    found = _Reader(deque(words)).netem
    if found.reorder and not found.delay_ns:
        raise ValueError("reorder needs a delay, which the reordered packets skip")
    if found.gap and not found.reorder:
        raise ValueError("gap needs reorder")
    if found.distribution != "uniform" and not (found.delay_ns and found.jitter_ns):
        raise ValueError("distribution needs a delay with a jitter")
    if found.reorder and found.reordered_every < 2:
        raise ValueError(
            "reorder lets most packets skip the delay; leave out reorder and delay, or reorder fewer"
        )
    found.notes += _approximations(found)
    return found


def _approximations(found: Netem) -> list[str]:
    """Return notes on options that a link can only approximate."""
    notes = []
    jitter = DURATION.format(found.jitter_ns)
    if found.distribution != "uniform":
        notes.append(
            f"netem: a uniform jitter with the standard deviation {jitter} replaces distribution"
            f" {shown(found.distribution)}"
        )
    if found.half_ns > found.delay_ns:
        notes.append(
            f"netem sends a packet immediately if the jitter {jitter} makes its delay negative; the link's"
            " delays are uniform from 0 on"
        )
    if found.reorder:
        notes.append(
            f"netem: reorder makes one packet in {found.reordered_every} arrive"
            f" {DURATION.format(found.delay_ns)} late; netem sends random packets early by this time instead"
        )
    if found.corrupt:
        notes.append(f"netem: corrupt {found.corrupt:.6g} counts as loss: receivers drop damaged packets")
    return notes


def _share(text: str) -> float:
    """Parse a probability. A value that rounds to 0 in the 32 bits of iproute2's `set_percent` becomes 0."""
    value = probability(text)
    return value if round(value * _MOST_U32) else 0.0


class _Reader:
    """A parser of options word by word, like `netem_parse_opt`."""

    def __init__(self, words: deque[str]) -> None:
        self._words = words
        self.netem = Netem()
        while words:
            word = words.popleft()
            option = next((name for name in _OPTIONS if word and name.startswith(word)), None)
            if option is None:
                raise ValueError(f"unknown option {shown(word)} of netem{suggestion(word, _OPTIONS)}")
            self._take(option)

    def _take(self, option: str) -> None:
        netem = self.netem
        match option:
            case "limit":
                netem.limit = self._value(option, size)
            case "latency" | "delay":
                self._delay(option)
            case "loss" | "drop":
                self._loss(option)
            case "ecn":
                self._leave_out("ecn", "the link drops what netem would mark")
            case "reorder" | "corrupt" | "duplicate":
                setattr(netem, option, self._value(option, _share))
                self._correlation(option)
            case "gap":
                netem.gap = self._value(option, whole)
            case "distribution":
                netem.distribution = self._value(option, str)
            case "rate":
                netem.rate_bps = self._value(option, rate) or None
                if self._numbers():
                    self._leave_out("overhead of rate", "links use tcp.link_overhead instead")
            case "slot":
                self._slot()
            case "seed":
                self._value(option, str)
                self._leave_out("seed", "a run has seeds of its own")
            case _:
                self._value(option, whole)
                self._leave_out(option, "links use tcp.link_overhead instead")

    def _delay(self, option: str) -> None:
        netem = self.netem
        netem.delay_ns = self._time(option)
        if self._is_number():
            netem.jitter_ns = self._time("jitter")
            self._correlation(option)

    def _time(self, option: str) -> int:
        """Parse a time into ns. A number without a unit is in ns since iproute2 6.9, and was in us before
        (commit 9a6b231ea1b0)."""
        text = self._words[0] if self._words else ""
        if is_bare(text):
            self.netem.notes.append(
                f"netem: {option} {text} without a unit is {text} ns; before iproute2 6.9 it was {text} us"
            )
        return self._value(option, nanoseconds)

    def _loss(self, option: str) -> None:
        """Parse a loss model of `loss_event`: random, `loss_4state` or `loss_gilb_ell`."""
        model = self._words.popleft() if self._words and not self._is_number() else "random"
        known = ("random", "state", "gemodel")
        if model not in known:
            raise ValueError(f"unknown model of loss {shown(model)}{suggestion(model, known)}")
        self._is_number(skipping=_PRINTED)
        first = self._value(option, _share)
        if model == "random":
            self.netem.loss = {"kind": "bernoulli", "probability": first} if first else None
            self._correlation(option)
            return
        more = []
        while self._is_number(skipping=_PRINTED):
            more.append(self._value(f"{option} {model}", _share))
        improves = more[0] if more else 1 - first
        chain: Table = {"kind": "gilbert_elliott", "worsens": first, "improves": improves}
        if model == "gemodel":
            chain |= dict(zip(("bad", "good"), more[1:], strict=False))
        elif any(more[1:2]) or any(more[3:]):  # p23 has no effect without p32
            self._leave_out("state p32, p23, p14 of loss", "a link's loss has two states, with p13 and p31")
        self.netem.loss = chain

    def _slot(self) -> None:
        if self._words and self._words[0] == "distribution":
            self._words.popleft()
            if not self._is_number():  # `netem_print_opt` omits the name of the model
                self._value("slot distribution", str)
            self._value("slot", nanoseconds)
        self._value("slot", nanoseconds)
        if self._is_number():
            self._value("slot", nanoseconds)
        while self._words and self._words[0] in ("packets", "bytes"):
            word = self._words.popleft()
            self._value(f"slot {word}", size)
        self._leave_out("slot", "a link has batch and frames for packets that leave together")

    def _correlation(self, option: str) -> None:
        if self._is_number():
            self._value(f"correlation of {option}", probability)
            self._leave_out(f"correlation of {option}", "draws are independent")

    def _leave_out(self, what: str, why: str) -> None:
        note = f"netem: {what} is left out: {why}"
        self.netem.notes += [note] if note not in self.netem.notes else []

    def _is_number(self, skipping: tuple[str, ...] = ()) -> bool:
        """Remove words in `skipping` from the front, and return whether the next word is a number
        (`NEXT_IS_SIGNED_NUMBER`)."""
        while self._words and self._words[0] in skipping:
            self._words.popleft()
        return bool(self._words) and self._words[0].lstrip("-")[:1].isdigit()

    def _numbers(self) -> list[str]:
        """Remove the numbers at the front of the words, and return them."""
        found = []
        while self._is_number():
            found.append(self._words.popleft())
        return found

    def _value(self, option: str, read: Callable[[str], _Value]) -> _Value:
        if not self._words:
            raise ValueError(f"{option} needs a value")
        try:
            return read(self._words.popleft())
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None
