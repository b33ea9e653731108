"""When a link may send, if not at a rate: recorded traces, and frames."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_serializer, model_validator

from fullpipe.scenario.model.base import Model, Switch
from fullpipe.scenario.model.content import Content, written
from fullpipe.scenario.quantities import Bytes, Seconds, to_nanoseconds
from fullpipe.scenario.traces import OPPORTUNITY_BYTES, Steps, parse_steps

if TYPE_CHECKING:
    from fullpipe.scenario.traces import Mahimahi


def _mahimahi(data: bytes, where: str) -> "Mahimahi":
    from fullpipe.scenario.traces import parse_mahimahi  # here: it needs numpy, which takes a while to import

    return parse_mahimahi(data, where)


_MAHIMAHI, _CSV = Content(_mahimahi), Content(parse_steps)


class Trace(Model):
    """A recording that a link follows. Its content is part of what is simulated, its name is not.

    `mahimahi`: a packet-delivery trace in place of a rate. Each line is a millisecond at which 1504 bytes may
    leave; packets share them, continue in the next, and what is not used is lost, as in Mahimahi's link
    shell. Full segments fit exactly with `link_overhead = "4 B"`.

    `csv`: columns `time_s` and `rate_bps`, `delay_s`, `loss` (a probability), each row valid until the next.
    Where the link itself has no rate or delay, those of the first row stand for it.
    """

    file: str = Field(max_length=4_096, examples=["cell.up"])
    """Beside the scenario's file, if the path is relative."""
    kind: Literal["mahimahi", "csv"] = "mahimahi"
    repeat: Switch = True
    """It begins again at its last line. Otherwise a packet-delivery trace has to last as long as the run, and
    the last row of a CSV holds."""
    offset_s: Seconds = Field(0.0, alias="offset")
    """The run begins at this time of it."""
    opportunity_bytes: Annotated[Bytes, Field(gt=0, le=10**9)] = Field(OPPORTUNITY_BYTES, alias="opportunity")
    """What a line of a packet-delivery trace carries."""

    _digest: str = PrivateAttr("")

    @property
    def deliveries(self) -> "Mahimahi | None":
        """The packet-delivery trace, if it is one."""
        return _MAHIMAHI.read(self.file, self._digest) if self.kind == "mahimahi" else None

    @property
    def steps(self) -> Steps | None:
        """The rows, if it is a CSV."""
        return _CSV.read(self.file, self._digest) if self.kind == "csv" else None

    @property
    def mean_bps(self) -> int | None:
        """Mean rate of a packet-delivery trace."""
        trace = self.deliveries
        return None if trace is None else round(trace.mean_bps * self.opportunity_bytes / OPPORTUNITY_BYTES)

    @model_validator(mode="before")
    @classmethod
    def _of_a_file(cls, value: object) -> object:
        """Text stands for the recording of that name; its ending says which kind it is."""
        if not isinstance(value, str):
            return value
        return {"file": value, "kind": "csv" if value.endswith(".csv") else "mahimahi"}

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        self._digest = (_MAHIMAHI if self.kind == "mahimahi" else _CSV).digest(self.file)
        steps = self.steps
        if steps is None:
            return self
        if "opportunity_bytes" in self.model_fields_set:
            raise ValueError("opportunity: of a packet-delivery trace only")
        if self.repeat and to_nanoseconds(steps.time_s[-1]) == 0:
            raise ValueError(
                f"{self.file}: lasts no time: its last row is at {steps.time_s[-1]:g} s; write repeat = false"
            )
        rates = [rate for rate in steps.rate_bps or () if rate is not None]
        if not self.repeat and rates and rates[-1] == 0:
            raise ValueError(f"{self.file}: ends with a rate of 0, so that nothing is ever sent again")
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: Any, info: Any) -> dict[str, Any]:
        return written(write(self), info.mode, self._digest)


class Frames(Model):
    """A link that sends in frames in place of a rate, as a radio does that has its turn every so often.

    At each turn as much of what waits is sent as the frame holds, all at once; a packet that does not fit
    whole continues in the next frame.
    """

    every_s: Annotated[Seconds, Field(gt=0, le=3_600)] = Field(alias="every", examples=["5 ms"])
    """Time between two turns; the first comes after it."""
    size_bytes: Annotated[Bytes, Field(gt=0, le=10**9)] = Field(alias="size", examples=["64 KiB"])
    """What a frame holds."""

    @property
    def mean_bps(self) -> int:
        """Mean rate when every frame is full."""
        return round(8 * self.size_bytes / self.every_s)
