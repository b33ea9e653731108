"""Loss models: packets lost on the wire, apart from drops of the queue.

The simulator declares the loss models (`crates/network/src/losses`).
"""

import re
from collections.abc import Mapping
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, Switch
from fullpipe.scenario.model.content import Content, FileModel
from fullpipe.scenario.model.registered import model_of, registered, values_of
from fullpipe.scenario.traces.files import TraceError

_MOST_LOST = 5_000_000
"""Largest number of lost packets in a file."""
_Number = Annotated[int, Field(strict=True, ge=0, le=2**53)]


class LossModel(Model):
    """A model of loss, with the parameters of the registry."""

    kind: str

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


_REGISTRY = catalogue.family("losses")


@registered(_REGISTRY["replay"])
class Replay(FileModel, LossModel):
    """Loss of listed packets, such as the packets lost in a recording. Give either `packets` or `file`.

    Packets of all kinds are numbered in the order in which they leave the link.
    """

    kind: Literal["replay"] = "replay"
    packets: tuple[_Number, ...] | None = Field(None, max_length=100_000, examples=["[100, 101, 250]"])
    file: str | None = Field(None, max_length=4_096, examples=["losses.txt"])
    """A file with a 0 for every packet that arrives and a 1 for every lost packet; white space is ignored."""
    repeat: Switch = False
    """Repeat the pattern at its end; only with `file`."""

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
            raise ValueError("period: only with packets; to repeat a file, write repeat = true")
        if self.packets is not None and self.repeat:
            raise ValueError(
                "repeat: only with a file; to repeat packets, write a period, as in period = 100"
            )
        numbers = self.packets or ()
        if any(b <= a for a, b in pairwise(numbers)):
            raise ValueError("packets: must be in ascending order")
        if numbers and self.period is not None and self.period <= numbers[-1]:
            raise ValueError(
                f"period: {self.period} ends before packet {numbers[-1]}; write {numbers[-1] + 1} or more"
            )
        if self.file is not None:
            self._digest = _CONTENT.digest(self.file)
        return self


def losses(data: bytes, where: str) -> tuple[list[int], int]:
    """Parse a loss file into the indices of the lost packets and the number of all packets."""
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
        raise TraceError(where, f"{lost:,} lost packets are more than {_MOST_LOST:,}; split the file")
    return [at.start() for at in re.finditer(b"1", digits)], len(digits)


_CONTENT = Content(losses)

_OWN: Mapping[str, type[LossModel]] = {"replay": Replay}
"""Models of losses whose keys in scenario files differ from the parameters in the registry."""
MODELS = {
    name: _OWN.get(name) or model_of(entry, LossModel, kind=(Literal[name], name))
    for name, entry in _REGISTRY.items()
}
"""The model of every loss, by its kind."""
globals().update({model.__name__: model for model in MODELS.values()})  # pickle finds models by name

if TYPE_CHECKING:
    Loss = LossModel
else:
    Loss = Annotated[reduce(or_, MODELS.values()), Field(discriminator="kind")]


NO_LOSS: Mapping[str, Any] = {"kind": "bernoulli", "probability": 0.0}
"""The loss of a link without loss, in the format of the plan."""


def plan_of(loss: LossModel) -> dict[str, Any]:
    """Return a loss in the format of the plan."""
    if isinstance(loss, Replay):
        return loss.plan
    return {"kind": loss.kind, **dict(values_of(loss, _REGISTRY[loss.kind]))}
