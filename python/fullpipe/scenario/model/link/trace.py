"""The keys `trace` and `frames`: recordings and periodic frames, which replace the rate of a link. The key
`recorded_jitter`: recorded delays, which add to the link's delay.

`scenario/traces/` reads the files. `scenario/network/recorded.py` turns the rows of a CSV into steps, and
`crates/network/src/opportunities.rs` repeats packet-delivery traces and frames."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, Switch, recorded_digest
from fullpipe.scenario.model.content import Content, FileModel
from fullpipe.scenario.model.link.impairments import Impairment
from fullpipe.scenario.model.registered import field_name, field_of, with_fields
from fullpipe.scenario.quantities import BITS, Bytes, OrWritten, Seconds, to_nanoseconds
from fullpipe.scenario.traces import OPPORTUNITY_BYTES, Steps, parse_delays, parse_steps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fullpipe.scenario.traces import Mahimahi, Trains


def _mahimahi(data: bytes, where: str) -> "Mahimahi":
    from fullpipe.scenario.traces import parse_mahimahi  # imported here, as it imports numpy, which is slow

    return parse_mahimahi(data, where)


def _trains(data: bytes, where: str) -> "Trains":
    from fullpipe.scenario.traces import parse_trains

    return parse_trains(data, where)


_MAHIMAHI, _CSV, _TRAINS = Content(_mahimahi), Content(parse_steps), Content(_trains)
_DELAYS = Content(parse_delays)
_PACKET = "1400 B"
"""Packet size of CellReplay's recorder, and size of a delivery opportunity in CellReplay's traces."""
_LEAST_SHARE = 0.75
"""Minimum of (duration of the shorter recording) / (duration of the longer) for simultaneous recordings."""


class _File(FileModel):
    """A table that names a file. The name alone stands for the table."""

    file: str
    _content: ClassVar[Content[Any]]

    @model_validator(mode="before")
    @classmethod
    def _text_is_a_file(cls, value: object) -> object:
        return {"file": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        self._digest = self._content.digest(self.file)
        return self


class Light(_File):
    """Packet trains recorded on an idle path, in CellReplay's format (NSDI 2025).

    A packet that arrives after a pause leaves immediately and starts the last train recorded up to that time.
    Later packets leave at the times of the train's packets; unused times expire. Packets are not split. After
    the end of the train, packets wait for opportunities of the trace, until the next pause.
    """

    file: str = Field(max_length=4_096, examples=["cell.train"])
    """File with one line per train, in ms: its send time, the one-way delay of its first packet, and the
    arrival of each packet relative to the first. A relative path is resolved from the scenario's folder."""
    idle_s: Seconds = Field(0.0, alias="idle")
    """Shortest pause: a packet starts a train if no packet has left for longer than this time."""

    _content: ClassVar = _TRAINS

    @property
    def trains(self) -> "Trains":
        """The recorded trains."""
        return _TRAINS.read(self.file, self._digest)


class Trace(FileModel):
    """A recording of a link's rate, or of its rate, delay and loss.

    The run digest depends on the content of the file, not on its name.

    `mahimahi`: a packet-delivery trace that replaces the rate. Each line is a time in ms at which 1504 B can
    leave. Packets share an opportunity or continue in the next one, and unused bytes expire, as in Mahimahi's
    link shell. Full segments fit exactly with `link_overhead = "4 B"`. With `light`, this is the trace of the
    busy path, one of the two recordings of CellReplay.

    `csv`: columns `time_s` and any of `rate_bps`, `delay_s` and `loss` (a probability). The values of a row
    hold until the next row. If the link has no rate or delay of its own, the first row gives the initial
    value.
    """

    file: str = Field(max_length=4_096, examples=["cell.up"])
    """File of the recording. A relative path is resolved from the scenario's folder."""
    kind: Literal["mahimahi", "csv"] = "mahimahi"
    """Format of the file."""
    repeat: Switch = True
    """Repeat the recording after its last line. false: a packet-delivery trace must last as long as the run,
    and the last row of a CSV holds until the end."""
    offset_s: Seconds = Field(0.0, alias="offset")
    """Time in the recording at which the run begins."""
    opportunity_bytes: Annotated[Bytes, Field(gt=0, le=10**9)] = Field(OPPORTUNITY_BYTES, alias="opportunity")
    """Bytes per line of a packet-delivery trace. Left out with `light`: 1400 B, as CellReplay records."""
    light: Annotated[Light, OrWritten(str)] | None = Field(None, examples=["cell.train"])
    """Packet trains recorded at the same time, for packets that arrive after a pause. The delay of the train
    adds to the link's delay for all packets. Left out: pauses make no difference, as in Mahimahi."""

    @property
    def deliveries(self) -> "Mahimahi | None":
        """The packet-delivery trace, or None for a CSV."""
        return _MAHIMAHI.read(self.file, self._digest) if self.kind == "mahimahi" else None

    @property
    def steps(self) -> Steps | None:
        """The rows of a CSV, or None for a packet-delivery trace."""
        return _CSV.read(self.file, self._digest) if self.kind == "csv" else None

    @property
    def mean_bps(self) -> int | None:
        """Mean rate of a packet-delivery trace, or None for a CSV."""
        trace = self.deliveries
        return None if trace is None else round(trace.mean_bps * self.opportunity_bytes / OPPORTUNITY_BYTES)

    def rates_bps(self, times_s: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Mean rates of a packet-delivery trace in the intervals of a run that end at these times; the first
        interval begins with the run.

        Raises:
            TraceError: If the content of the file has changed.
        """
        from numpy import concatenate, diff  # imported here, as numpy is slow to import

        trace = _MAHIMAHI.read(self.file, self._digest)
        edges_s = concatenate([[0.0], times_s])
        counts = trace.counts(self.offset_s + edges_s, repeats=self.repeat)
        return diff(counts) * self.opportunity_bytes * BITS / diff(edges_s)

    @property
    def mean_delay_s(self) -> float:
        """Mean delay that recorded trains add to the link."""
        return 0.0 if self.light is None else float(self.light.trains.delays_ms.mean()) / 1e3

    @model_validator(mode="before")
    @classmethod
    def _of_a_file(cls, value: object) -> object:
        """Accept the name of a file instead of a table. The ending of the file's name selects the format."""
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
            raise ValueError("light: only with a packet-delivery trace")
        if "opportunity_bytes" in self.model_fields_set:
            raise ValueError("opportunity: only with a packet-delivery trace")
        if self.repeat and to_nanoseconds(steps.time_s[-1]) == 0:
            raise ValueError(
                f"{self.file}: cannot be repeated, as its last row is at {steps.time_s[-1]:g} s; write"
                " repeat = false"
            )
        rates = [rate for rate in steps.rate_bps or () if rate is not None]
        if not self.repeat and rates and rates[-1] == 0:
            raise ValueError(f"{self.file}: ends with a rate of 0, after which nothing is ever sent")
        return self

    def _of_one_time(self) -> Self:
        """Refuse a trace and trains of different durations, as they are recorded together."""
        if self.light is not None and self.deliveries is not None:
            lasts = {self.light.file: self.light.trains.period_s, self.file: self.deliveries.period_s}
            (short, least), (long, most) = sorted(lasts.items(), key=lambda entry: entry[1])
            if least < _LEAST_SHARE * most:
                raise ValueError(
                    f"light: {short} lasts {least:g} s and {long} {most:g} s; the two files must be "
                    "recordings of the same time, and the shorter file is incomplete"
                )
        return self


class Frames(Model):
    """Periodic frames instead of a rate, as on a radio that sends in turns.

    Each frame sends waiting bytes up to its size, all at the same time. A packet that does not fit continues
    in the next frame.
    """

    every_s: Annotated[Seconds, Field(gt=0, le=3_600)] = Field(alias="every", examples=["5 ms"])
    """Time between two frames; the first frame is sent this time after the start of the run."""
    size_bytes: Annotated[Bytes, Field(gt=0, le=10**9)] = Field(alias="size", examples=["64 KiB"])
    """Bytes of a frame."""

    @property
    def mean_bps(self) -> int:
        """Mean rate when every frame is full."""
        return round(8 * self.size_bytes / self.every_s)


_JITTER = catalogue.family("impairments")["recorded_jitter"].params
_LISTED = "delays_ns"


@with_fields({field_name(param): field_of(param) for name, param in _JITTER.items() if name != _LISTED})
class RecordedJitter(_File, Impairment):
    """A random extra delay of every packet, with the distribution of recorded delays.

    Every packet gets a delay of its own, independent of the delays before it.
    """

    file: str = Field(max_length=4_096, examples=["delays.txt"])
    """File with one delay in ms per line. A relative path is resolved from the scenario's folder."""

    _content: ClassVar = _DELAYS

    @property
    def delays_ns(self) -> tuple[int, ...]:
        """The recorded delays in the order of the file."""
        return _DELAYS.read(self.file, self._digest)

    @property
    def plan(self) -> dict[str, Any]:
        """The parameters in the format of the plan."""
        return {_LISTED: list(self.delays_ns), "draw": self.draw, "reorder": self.reorder}
