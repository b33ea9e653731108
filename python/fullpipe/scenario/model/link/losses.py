"""Loss models: packets lost on the wire, apart from drops of the queue."""

import re
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_serializer, model_validator

from fullpipe.scenario.model.base import Model, Probability, Switch
from fullpipe.scenario.model.content import Content, written
from fullpipe.scenario.traces.files import TraceError

_Count = Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)]
_MOST_LOST = 5_000_000
"""Largest number of lost packets in a file."""
_Number = Annotated[int, Field(strict=True, ge=0, le=2**53)]


class Bernoulli(Model):
    """Every packet is lost with the same probability, independently, as it leaves the link."""

    kind: Literal["bernoulli"] = "bernoulli"
    probability: Probability = Field(title="loss", examples=[0.01])
    """Loss probability of each packet."""


class Periodic(Model):
    """Exactly every n-th packet is lost as it leaves the link: the loss that textbook formulas assume."""

    kind: Literal["periodic"] = "periodic"
    every: _Count = Field(title="packets per loss", examples=[10_000])
    """Packets per lost packet."""


class GilbertElliott(Model):
    """Losses in bursts, as packets leave the link: a good and a bad state, each with its loss probability.

    Gilbert (1960) and Elliott (1963); the names of netem's `gemodel` are in brackets. The share of bad times
    is worsens / (worsens + improves), and a bad time lasts 1 / improves packets on average.
    """

    kind: Literal["gilbert_elliott"] = "gilbert_elliott"
    worsens: Probability = Field(title="good to bad", examples=[0.001])
    """Probability of the transition from good to bad, per packet (p)."""
    improves: Probability = Field(title="bad to good", examples=[0.1])
    """Probability of the transition from bad to good, per packet (r)."""
    bad: Probability = Field(1.0, title="loss in bad times")
    """Probability of loss in bad times (1-h)."""
    good: Probability = Field(0.0, title="loss in good times")
    """Probability of loss in good times (1-k)."""


class Replay(Model):
    """Loss of listed packets, such as those lost in a recording. Give one of `packets` and `file`.

    Packets of all kinds are numbered in the order in which they leave the link.
    """

    kind: Literal["replay"] = "replay"
    packets: tuple[_Number, ...] | None = Field(None, max_length=100_000, examples=["[100, 101, 250]"])
    """Indices of lost packets, ascending; the first packet has index 0."""
    period: _Count | None = None
    """Packets after which the indices repeat. Left out: never."""
    file: str | None = Field(None, max_length=4_096, examples=["losses.txt"])
    """A file with a 0 for every packet that arrives and a 1 for every lost one; white space is ignored."""
    repeat: Switch = False
    """Repeat the pattern at its end; only with `file`."""

    _digest: str = PrivateAttr("")

    @property
    def plan(self) -> dict[str, Any]:
        """The loss in the format of the plan."""
        if self.file is None:
            return {"kind": self.kind, "packets": list(self.packets or ()), "period": self.period}
        lost, count = _CONTENT.read(self.file, self._digest)
        return {"kind": self.kind, "packets": lost, "period": count if self.repeat else None}

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.packets is None) == (self.file is None):
            raise ValueError('give one of packets = [100, 101] and file = "losses.txt"')
        if self.file is not None and self.period is not None:
            raise ValueError("period: with packets only; a file begins again at its end with repeat = true")
        if self.packets is not None and self.repeat:
            raise ValueError("repeat: with a file only; packets begin again after a period = 100")
        numbers = self.packets or ()
        if any(b <= a for a, b in pairwise(numbers)):
            raise ValueError("packets: not ascending")
        if numbers and self.period is not None and self.period <= numbers[-1]:
            raise ValueError(f"period: {self.period} ends before packet {numbers[-1]}")
        if self.file is not None:
            self._digest = _CONTENT.digest(self.file)
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: Any, info: Any) -> dict[str, Any]:
        return written(write(self), info, self._digest)


def losses(data: bytes, where: str) -> tuple[list[int], int]:
    """Parse a loss file into the numbers of the lost packets and the number of all packets."""
    digits = data.translate(None, b" \t\n\r\v\f")
    if not digits:
        raise TraceError(where, "is empty; write a 0 or a 1 for every packet")
    wrong = digits.translate(None, b"01")
    if wrong:
        line = data[: data.index(wrong[:1])].count(b"\n") + 1
        shown = wrong[:1].decode("latin-1")
        raise TraceError(where, f'"{shown}" is neither 0 nor 1', line)
    lost = digits.count(b"1")
    if lost > _MOST_LOST:
        raise TraceError(where, f"{lost:,} lost packets are more than {_MOST_LOST:,}; cut it into parts")
    return [at.start() for at in re.finditer(b"1", digits)], len(digits)


_CONTENT = Content(losses)

Loss = Annotated[Bernoulli | Periodic | GilbertElliott | Replay, Field(discriminator="kind")]


def plan_of(loss: Loss) -> dict[str, Any]:
    """Return a loss in the format of the plan."""
    return loss.plan if isinstance(loss, Replay) else loss.model_dump()
