"""Cellular cells: a base station schedules its users slot by slot."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import AfterValidator, AliasChoices, Field, ModelWrapValidatorHandler, model_validator

from fullpipe import _native
from fullpipe.errors import shown
from fullpipe.scenario.model.base import Delay, Model, Name, WithinError, laid_under, short_for
from fullpipe.scenario.model.cells.base import CellModel, CellPort, ChosenRate, Decibels, Snr, Station
from fullpipe.scenario.model.link.queues import DropTail, Queue
from fullpipe.scenario.quantities import Bytes, Seconds, to_nanoseconds

SYMBOLS = 14
"""Symbols per slot (3GPP TS 38.211, 4.3.2)."""


def _pattern(value: str) -> str:
    if value != "FDD" and not (set(value) <= set("DSU") and "D" in value and "U" in value):
        raise ValueError(f'expected "FDD" or slots D, S and U such as "DDDSU", got {shown(value)}')
    return value


Period = Annotated[Seconds, Field(ge=1e-6, le=1)]
Pattern = Annotated[str, Field(max_length=100), AfterValidator(_pattern)]


class Limits(NamedTuple):
    """Largest values of a generation of cellular networks, LTE or NR."""

    resource_blocks: int
    numerology: int
    layers: int
    mcs: int


@cache
def limits(kind: str) -> Limits:
    """Return the limits of a kind of cell."""
    return Limits(**_native.cellular()[kind])


class MobileRate(ChosenRate):
    """Selection of the modulation and coding scheme (MCS)."""

    law: Literal["fixed", "cqi"] = "fixed"
    """Rate control. "fixed": always the same MCS. "cqi": by reports of the signal-to-noise ratio, corrected
    so that a target share of first transmissions fails (`cqi.target_errors`)."""
    mcs: Annotated[int, Field(strict=True, ge=0)] | None = Field(None, examples=[20])
    """MCS of a fixed rate: 0 to 28 in LTE, 0 to 27 in NR."""


class Gap(Model):
    """An interruption in which a user neither sends nor receives, as during a handover.

    Waiting packets are forwarded in order.
    """

    at_s: Seconds = Field(alias="at", examples=["20 s"])
    """Time at which the interruption begins."""
    gap_s: Annotated[Seconds, Field(gt=0)] = Field(alias="gap", examples=["50 ms"])
    """Duration of the interruption."""
    every_s: Annotated[Seconds, Field(gt=0)] | None = Field(None, alias="every", examples=["15 s"])
    """Time from the start of one interruption to the next. Left out: one interruption."""

    @model_validator(mode="after")
    def _ends_before_the_next(self) -> Self:
        if self.every_s is not None and self.every_s <= self.gap_s:
            raise WithinError(("every", "must be longer than the gap"))
        return self

    @property
    def numbers(self) -> list[int]:
        """Start, duration and period in nanoseconds, as in the plan. A period of 0 means a single
        interruption."""
        return [to_nanoseconds(time_s) for time_s in (self.at_s, self.gap_s, self.every_s or 0.0)]


class Blockage(Model):
    """Random blockage of the radio path, such as by a body at millimetre waves. Durations of blockages and of
    the times between them are exponentially distributed."""

    depth_db: Annotated[Decibels, Field(ge=0)] = Field(alias="depth", examples=["25 dB"])
    """Attenuation: decrease of the signal-to-noise ratio."""
    lasting_s: Annotated[Seconds, Field(ge=1e-3, le=1e6)] = Field(alias="lasting", examples=["500 ms"])
    """Mean duration of a blockage."""
    free_s: Annotated[Seconds, Field(ge=1e-3, le=1e6)] = Field(alias="free", examples=["4 s"])
    """Mean time without blockage. The run begins without a blockage."""

    @property
    def numbers(self) -> list[float]:
        """Depth in dB and mean times in seconds, as in the plan."""
        return [self.depth_db, self.lasting_s, self.free_s]


class User(Station):
    """A node in a cellular cell."""

    node: Name = Field(examples=["handset"])
    """Name of the node."""
    rate: Annotated[MobileRate, short_for("law")] = Field(MobileRate(law="cqi"), examples=["{ mcs = 20 }"])
    """MCS selection in both directions: `{ mcs = 20 }` or "cqi"."""
    errors: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Probability that a transport block is not decoded, independent for each transmission, in both
    directions and in addition to errors from noise."""
    snr: Snr = Field(None, examples=["18 dB"])
    """Signal-to-noise ratio at both ends: a value, or a table if the ratio varies. Left out: so high that
    noise causes no errors."""

    blockage: Blockage | None = Field(
        None, examples=['{ depth = "25 dB", lasting = "500 ms", free = "4 s" }']
    )
    """Random blockage of the radio path of a user with an `snr`. Left out: none."""
    handovers: Annotated[tuple[Gap, ...], Field(max_length=1_000)] = Field(
        (), examples=['[{ at = "20 s", gap = "50 ms" }]']
    )
    """Handovers of the user to another cell, assumed equal to this cell. Left out: none."""

    @model_validator(mode="after")
    def _has_a_ratio_if_blocked(self) -> Self:
        if self.blockage is not None and self.snr is None:
            raise WithinError(("snr", 'missing, but a blockage lowers it; write for example snr = "20 dB"'))
        return self

    @property
    def law(self) -> str:
        """The rate control in use. Without `snr`, "cqi" becomes "fixed" with the highest MCS."""
        return "fixed" if self.rate.law == "cqi" and self.snr is None else self.rate.law


class Uplink(Model):
    """Scheduling requests and grants of the uplink (TS 36.321, TS 38.321, 5.4)."""

    request_period_s: Period = Field(0.01, alias="request_period", examples=["5 ms"])
    """Time between two opportunities of a user for a scheduling request."""
    grant_delay_s: Annotated[Seconds, Field(le=1)] = Field(0.008, alias="grant_delay", examples=["3 ms"])
    """Time from a scheduling request or a buffer status report until the granted data can be sent."""
    first_grant_bytes: Annotated[Bytes, Field(ge=40, le=10**6)] = Field(
        150, alias="first_grant", examples=["150 B"]
    )
    """Size of the grant for a scheduling request. The request does not report how much data waits."""
    layers: Annotated[int, Field(strict=True, ge=1, le=8)] = 1
    """Spatial layers of the uplink."""


class Harq(Model):
    """Hybrid ARQ: fast retransmission of transport blocks."""

    round_trip_s: Period | None = Field(None, alias="round_trip", examples=["8 ms"])
    """Time from the start of a block until its retransmission can start. Left out: the default of the cell's
    kind."""
    tries: Annotated[int, Field(strict=True, ge=1, le=32)] = 4
    """Largest number of transmissions of a block, the first included."""


class Rlc(Model):
    """Radio link control: handling of a block that HARQ does not deliver."""

    mode: Literal["am", "um"] = "am"
    """"am" (acknowledged mode): the block is retransmitted after a status report. "um" (unacknowledged mode):
    the block is lost."""
    retransmission_s: Annotated[Seconds, Field(le=10)] = Field(
        0.04, alias="retransmission", examples=["40 ms"]
    )
    """Time from the end of the last HARQ transmission until the retransmission, in acknowledged mode."""
    reordering_s: Annotated[Seconds, Field(le=10)] = Field(0.05, alias="reordering", examples=["50 ms"])
    """Time for which data after a lost block is held, in unacknowledged mode (t-Reordering)."""


class Cqi(Model):
    """Channel quality reports: the signal-to-noise ratios from which the MCS is chosen."""

    period_s: Period = Field(0.005, alias="period", examples=["5 ms"])
    """Time between two reports."""
    delay_s: Annotated[Seconds, Field(le=1)] = Field(0.006, alias="delay", examples=["6 ms"])
    """Time until a report takes effect."""
    target_errors: Annotated[float, Field(ge=0.001, le=0.5)] = 0.1
    """Target share of blocks that are not decoded in their first transmission."""


class Drx(Model):
    """Discontinuous reception: an idle user listens only in a part of each cycle (TS 36.321, TS 38.321, 5.7).

    The uplink is not delayed.
    """

    cycle_s: Annotated[Seconds, Field(gt=0, le=100)] = Field(alias="cycle", examples=["160 ms"])
    """Time from the start of one listening window to the start of the next."""
    on_s: Annotated[Seconds, Field(gt=0, le=100)] = Field(0.01, alias="on", examples=["10 ms"])
    """Duration of a listening window."""
    inactivity_s: Annotated[Seconds, Field(le=100)] = Field(0.1, alias="inactivity", examples=["100 ms"])
    """Time for which a user listens after the last new block in either direction."""


class Satellites(Model):
    """Satellites between the base station and its users. At any time, one satellite is in use.

    Each satellite adds a propagation delay, drawn uniformly between `low` and `high` by the seed. The delay
    is the same in both directions and for all users.
    """

    at_s: Seconds = Field(alias="at", examples=["12 s"])
    """Time at which the second satellite replaces the first."""
    every_s: Annotated[Seconds, Field(ge=1e-3)] = Field(alias="every", examples=["15 s"])
    """Time between later changes of the satellite."""
    low_s: Annotated[Seconds, Field(le=1)] = Field(alias="low", examples=["3.7 ms"])
    """Smallest delay of a satellite, one way."""
    high_s: Annotated[Seconds, Field(le=1)] = Field(alias="high", examples=["7.5 ms"])
    """Largest delay of a satellite, one way."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.high_s < self.low_s:
            raise WithinError(("high", "must be no less than low"))
        return self

    @property
    def numbers(self) -> list[int]:
        """First change, period, and smallest and largest delay in nanoseconds, as in the plan."""
        return [to_nanoseconds(time_s) for time_s in (self.at_s, self.every_s, self.low_s, self.high_s)]


class Background(Model):
    """Background users, which compete for resource blocks with the users of the cell.

    A background user competes while it has data to send, at the highest rate of the cell.
    """

    users: Annotated[int, Field(strict=True, ge=0, le=1_000)] = 0
    """Number of background users."""
    load: Annotated[float, Field(ge=0.001, le=1)] = 0.5
    """Share of the time in which a background user has data to send."""
    burst_s: Annotated[Seconds, Field(ge=1e-3, le=1_000)] = Field(0.1, alias="burst", examples=["100 ms"])
    """Mean duration of a burst. Bursts and the times between them are exponentially distributed."""


class Cellular(CellModel):
    """A base station and its users.

    In each slot, the base station assigns resource blocks to users with data to send, one transport block per
    user. A block that is not decoded is retransmitted, and later data waits for it.

    Each user has two ports: the downlink port, whose name ends in `-down`, and the uplink port, in `-up`.
    """

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    hub: Name = Field(
        "base-station",
        validation_alias=AliasChoices("hub", "base_station"),
        serialization_alias="hub",
        examples=["mast"],
    )
    """The node of the base station; also written `base_station`. In a dumbbell, it is the router between the
    wire and the cell."""
    stations: Annotated[tuple[User, ...], Field(min_length=1)] = Field(
        alias="users", examples=['[{ node = "handset" }]']
    )
    """The users of the cell."""
    queue: Queue = Field(DropTail(bytes="1.5 MB"), examples=['{ bytes = "1.5 MB" }'])
    """RLC buffer. Each direction of each user has a buffer with these settings, unless the user sets another
    queue."""
    pattern: Pattern = Field("FDD", examples=["DDDSU"])
    """Slots of time division duplex: D is downlink, U is uplink, S is split as in `special`. "FDD": every
    slot has both directions, on two carriers."""
    special: Literal["10:2:2", "6:4:4"] = "10:2:2"
    """Symbols of an S slot for downlink, gap and uplink."""
    layers: Annotated[int, Field(strict=True, ge=1, le=8)] = 1
    """Spatial layers of the downlink."""
    scheduler: Literal["round_robin", "proportional_fair"] = "proportional_fair"
    """Order in which users get resource blocks. "round_robin": in turn. "proportional_fair": by the ratio of
    the rate that a user could get to the average rate of this user."""
    fairness_slots: Annotated[int, Field(strict=True, ge=1, le=10**6)] = 100
    """Slots over which proportional fairness averages the rate of a user."""
    processing_s: Annotated[Seconds, Field(le=1)] | None = Field(None, alias="processing", examples=["1 ms"])
    """Time from the end of a slot until the data of the slot is decoded. Left out: the default of the cell's
    kind."""
    delay_s: Delay = Field(0.0, alias="delay", examples=["1 ms"])
    """Propagation delay between the base station and any user."""
    uplink: Uplink = Uplink()
    """Scheduling requests and grants of the uplink."""
    harq: Harq = Harq()
    """Fast retransmission of transport blocks (HARQ)."""
    rlc: Annotated[Rlc, short_for("mode")] = Rlc()
    """Radio link control: `"am"` (acknowledged), `"um"` (unacknowledged), or a table."""
    cqi: Cqi = Cqi()
    """Channel quality reports, for users with `rate = "cqi"`."""
    background: Background = Background()
    """Background users of the cell."""
    drx: Drx | None = Field(None, examples=['{ cycle = "160 ms" }'])
    """Discontinuous reception. Left out: users always listen."""
    gaps: Annotated[tuple[Gap, ...], Field(max_length=1_000)] = Field(
        (), examples=['[{ at = "12 s", gap = "80 ms", every = "15 s" }]']
    )
    """Interruptions of the whole cell. Left out: none."""
    satellites: Satellites | None = Field(
        None, examples=['{ at = "12 s", every = "15 s", low = "3.7 ms", high = "7.5 ms" }']
    )
    """Satellites on the path to the users. The delay of the satellite adds to `delay`. Left out: none."""

    @property
    @abstractmethod
    def carrier(self) -> tuple[int, int]:
        """Resource blocks and numerology of the carrier."""

    @property
    @abstractmethod
    def times_s(self) -> tuple[float, float]:
        """Default HARQ round trip, and default processing time, in s."""

    @property
    def mean_delay_s(self) -> float:
        """Mean propagation delay, one way, satellites included."""
        over = self.satellites
        return self.delay_s + ((over.low_s + over.high_s) / 2 if over else 0.0)

    @property
    def symbols(self) -> tuple[list[int], list[int]]:
        """Symbols of each slot of the pattern, for downlink and uplink."""
        if self.pattern == "FDD":
            return [SYMBOLS], [SYMBOLS]
        down, _, up = (int(part) for part in self.special.split(":"))
        ways = ({"D": SYMBOLS, "S": down, "U": 0}, {"D": 0, "S": up, "U": SYMBOLS})
        there, back = ([way[slot] for slot in self.pattern] for way in ways)
        return there, back

    def mcs_of(self, user: User) -> int:
        """Return the fixed MCS of a user, or the highest MCS if the rate is adaptive."""
        return limits(self.kind).mcs if user.rate.mcs is None else user.rate.mcs

    def ports(self) -> Iterator[CellPort]:
        """Yield the downlink and the uplink port of every user."""
        down, up = self.symbols
        for i, user in enumerate(self.stations):
            way, node = f"{self.name}-{user.node}", user.node
            queue, place = self.queue_of(i)
            there = self._rate_bps(user, down, self.layers)
            back = self._rate_bps(user, up, self.uplink.layers)
            yield CellPort(f"{way}-down", self.hub, (node,), self.queue, there, "")
            yield CellPort(f"{way}-up", node, (self.hub,), queue, back, place)

    def params(self) -> dict[str, Any]:
        """Return the parameters of the cell in the format of the native engine's plan."""
        resource_blocks, numerology = self.carrier
        round_trip_s, processing_s = self.times_s
        down, up = self.symbols
        return {
            "resource_blocks": resource_blocks,
            "numerology": numerology,
            "down_symbols": down,
            "up_symbols": up,
            "layers": self.layers,
            "up_layers": self.uplink.layers,
            "scheduler": self.scheduler,
            "fairness_slots": self.fairness_slots,
            "processing_ns": to_nanoseconds(processing_s if self.processing_s is None else self.processing_s),
            "delay_ns": to_nanoseconds(self.delay_s),
            "harq_round_trip_ns": to_nanoseconds(self.harq.round_trip_s or round_trip_s),
            "harq_tries": self.harq.tries,
            "rlc": self.rlc.mode,
            "rlc_retransmission_ns": to_nanoseconds(self.rlc.retransmission_s),
            "rlc_reordering_ns": to_nanoseconds(self.rlc.reordering_s),
            "request_period_ns": to_nanoseconds(self.uplink.request_period_s),
            "grant_delay_ns": to_nanoseconds(self.uplink.grant_delay_s),
            "first_grant_bytes": self.uplink.first_grant_bytes,
            "report_period_ns": to_nanoseconds(self.cqi.period_s),
            "report_delay_ns": to_nanoseconds(self.cqi.delay_s),
            "target_errors": self.cqi.target_errors,
            "user_mcs": [self.mcs_of(user) for user in self.stations],
            "user_rates": [user.law for user in self.stations],
            "user_snr": [user.snr.numbers if user.snr else [] for user in self.stations],
            "user_errors": [user.errors for user in self.stations],
            "user_blockage": [user.blockage.numbers if user.blockage else [] for user in self.stations],
            "user_gaps_ns": [
                [number for gap in (*self.gaps, *user.handovers) for number in gap.numbers]
                for user in self.stations
            ],
            **_drx(self.drx),
            "satellites_ns": self.satellites.numbers if self.satellites else [],
            "background_users": self.background.users,
            "background_load": self.background.load,
            "background_burst_ns": to_nanoseconds(self.background.burst_s),
        }

    def modes(self) -> Iterator[tuple[str, User, list[int | None]]]:
        """Yield every port by name, with its user and the rates of all resource blocks by MCS."""
        down, up = self.symbols
        for user in self.stations:
            for way, symbols, layers in (("down", down, self.layers), ("up", up, self.uplink.layers)):
                every = range(limits(self.kind).mcs + 1)
                rates_bps = [self._rate_at(mcs, symbols, layers) for mcs in every]
                yield f"{self.name}-{user.node}-{way}", user, rates_bps

    def _rate_bps(self, user: User, symbols: list[int], layers: int) -> int | None:
        return self._rate_at(self.mcs_of(user), symbols, layers)

    def _rate_at(self, mcs: int, symbols: list[int], layers: int) -> int | None:
        resource_blocks, numerology = self.carrier
        return _native.cellular_rate_bps(self.kind, numerology, symbols, resource_blocks, layers, mcs)

    @model_validator(mode="wrap")
    @classmethod
    def _with_preset(cls, values: object, make: ModelWrapValidatorHandler[Self]) -> Self:
        name = values.get("preset") if isinstance(values, Mapping) else None
        return laid_under(values, cls.presets.get(str(name), {}), make)

    @model_validator(mode="after")
    def _has_such_modes(self) -> Self:
        most = limits(self.kind)
        for key, layers in (("layers", self.layers), ("uplink.layers", self.uplink.layers)):
            if layers > most.layers:
                raise WithinError((key, f"{self.kind} has at most {most.layers} layers, got {layers}"))
        for i, user in enumerate(self.stations):
            if user.rate.mcs is not None and user.rate.mcs > most.mcs:
                where = f"users[{i}].rate.mcs"
                raise WithinError((where, f"{self.kind} has the MCS 0 to {most.mcs}, got {user.rate.mcs}"))
        return self

    @model_validator(mode="after")
    def _leaves_time_between_gaps(self) -> Self:
        for i, user in enumerate(self.stations):
            gaps = (*self.gaps, *user.handovers)
            if sum(gap.gap_s / gap.every_s for gap in gaps if gap.every_s) >= 1:
                where = f"users[{i}].handovers" if user.handovers else "gaps"
                told = "the interruptions leave no time to send; shorten gap, or lengthen every"
                raise WithinError((where, told))
        return self


def _drx(drx: Drx | None) -> dict[str, int]:
    times_s = (0.0, 0.01, 0.1) if drx is None else (drx.cycle_s, drx.on_s, drx.inactivity_s)
    keys = ("drx_cycle_ns", "drx_on_ns", "drx_inactivity_ns")
    return {key: to_nanoseconds(time_s) for key, time_s in zip(keys, times_s, strict=True)}
