"""When a link may send, if not at a rate: recorded traces, and frames."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_serializer, model_validator

from fullpipe.scenario.model.base import Model, Switch
from fullpipe.scenario.model.content import Content, written
from fullpipe.scenario.model.recorded import recorded_digest
from fullpipe.scenario.quantities import Bytes, OrWritten, Seconds, to_nanoseconds
from fullpipe.scenario.traces import OPPORTUNITY_BYTES, Steps, parse_steps

if TYPE_CHECKING:
    from fullpipe.scenario.traces import Mahimahi, Trains


def _mahimahi(data: bytes, where: str) -> "Mahimahi":
    from fullpipe.scenario.traces import parse_mahimahi  # here: it needs numpy, which takes a while to import

    return parse_mahimahi(data, where)


def _trains(data: bytes, where: str) -> "Trains":
    from fullpipe.scenario.traces import parse_trains

    return parse_trains(data, where)


_MAHIMAHI, _CSV, _TRAINS = Content(_mahimahi), Content(parse_steps), Content(_trains)
_PACKET = "1400 B"
"""What CellReplay's recorder sends, so that an opportunity of its traces carries as much."""
_LEAST_SHARE = 0.75
"""What one of two recordings of the same time lasts of the other, at the least."""


class Light(Model):
    """Packet trains recorded on a path that was idle before, in CellReplay's format (NSDI 2025).

    A packet that comes after a pause begins the train that was sent last at that time: it leaves at once,
    those behind it as the packets of the train did, and what is not used passes. Packets are not divided.
    When the train is used up, what comes next waits for opportunities of the trace, until the next pause.
    """

    file: str = Field(max_length=4_096, examples=["cell.train"])
    """A line per train: when it was sent, the one-way delay of its first packet, and how long after that each
    packet arrived, in milliseconds. Beside the scenario's file, if the path is relative."""
    idle_s: Seconds = Field(0.0, alias="idle")
    """A packet begins a train when nothing has left for longer than that."""

    _digest: str = PrivateAttr("")

    @property
    def trains(self) -> "Trains":
        """The recorded trains."""
        return _TRAINS.read(self.file, self._digest)

    @model_validator(mode="before")
    @classmethod
    def _text_is_a_file(cls, value: object) -> object:
        return {"file": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        self._digest = _TRAINS.digest(self.file)
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: Any, info: Any) -> dict[str, Any]:
        return written(write(self), info, self._digest)


class Trace(Model):
    """A recording that a link follows. Its content is part of what is simulated, its name is not.

    `mahimahi`: a packet-delivery trace in place of a rate. Each line is a millisecond at which 1504 bytes may
    leave; packets share them, continue in the next, and what is not used is lost, as in Mahimahi's link
    shell. Full segments fit exactly with `link_overhead = "4 B"`. With `light`, it is one of CellReplay's two
    levels: what a path gives that is kept busy.

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
    """What a line of a packet-delivery trace carries. With `light` and left out: 1400 bytes, as CellReplay
    records."""
    light: Annotated[Light, OrWritten(str)] | None = Field(None, examples=["cell.train"])
    """What packets meet that come after a pause, recorded at the same time. All packets arrive later by the
    delay of the train, beside that of the link. Left out: a pause makes no difference, as in Mahimahi."""

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

    @property
    def mean_delay_s(self) -> float:
        """What recorded trains add to the delay of the link, on average."""
        return 0.0 if self.light is None else float(self.light.trains.delays_ms.mean()) / 1e3

    @model_validator(mode="before")
    @classmethod
    def _of_a_file(cls, value: object) -> object:
        """Text stands for the recording of that name; its ending says which kind it is."""
        if isinstance(value, Mapping) and value.get("light") is not None:
            return {"opportunity": _PACKET, **value}
        if not isinstance(value, str):
            return value
        return {"file": value, "kind": "csv" if value.endswith(".csv") else "mahimahi"}

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        self._digest = (_MAHIMAHI if self.kind == "mahimahi" else _CSV).digest(self.file)
        if recorded_digest(self.file):
            return self
        steps = self.steps
        if steps is None:
            return self._of_one_time()
        if self.light is not None:
            raise ValueError("light: beside a packet-delivery trace only")
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

    def _of_one_time(self) -> Self:
        """Refuses a half of what was recorded together."""
        if self.light is not None and self.deliveries is not None:
            lasts = {self.light.file: self.light.trains.period_s, self.file: self.deliveries.period_s}
            (short, least), (long, most) = sorted(lasts.items(), key=lambda entry: entry[1])
            if least < _LEAST_SHARE * most:
                raise ValueError(
                    f"light: {short} lasts {least:g} s and {long} {most:g} s; they are recorded at the "
                    "same time, so the shorter one is cut off"
                )
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: Any, info: Any) -> dict[str, Any]:
        return written(write(self), info, self._digest)


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
