"""Cellular cells: a base station schedules its users slot by slot."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import AfterValidator, AliasChoices, Field, ModelWrapValidatorHandler, model_validator

from fullpipe import _native
from fullpipe.errors import shown
from fullpipe.scenario.model.base import Delay, Model, Name, WithinError, laid_under, short_for
from fullpipe.scenario.model.cells.base import CellModel, CellPort, Station
from fullpipe.scenario.model.cells.rates import ChosenRate
from fullpipe.scenario.model.cells.snr import Decibels, Snr
from fullpipe.scenario.model.link.queues import DropTail, Queue
from fullpipe.scenario.quantities import Bytes, Seconds, to_nanoseconds

SYMBOLS = 14
"""Of a slot (3GPP TS 38.211, 4.3.2)."""


def _pattern(value: str) -> str:
    if value != "FDD" and not (set(value) <= set("DSU") and "D" in value and "U" in value):
        raise ValueError(f'expected "FDD" or slots D, S and U such as "DDDSU", got {shown(value)}')
    return value


Period = Annotated[Seconds, Field(ge=1e-6, le=1)]
Pattern = Annotated[str, Field(max_length=100), AfterValidator(_pattern)]


class Limits(NamedTuple):
    """What a generation has at most."""

    resource_blocks: int
    numerology: int
    layers: int
    mcs: int


@cache
def limits(kind: str) -> Limits:
    """Of a kind of cell."""
    return Limits(**_native.cellular()[kind])


class MobileRate(ChosenRate):
    """How modulation and coding schemes are chosen."""

    law: Literal["fixed", "cqi"] = "fixed"
    """Fixed: one MCS, whatever becomes of what is sent; "cqi": by reports of the signal-to-noise ratio,
    corrected so that a given share of blocks has to be repeated."""
    mcs: Annotated[int, Field(strict=True, ge=0)] | None = Field(None, examples=[20])
    """Of a fixed rate. LTE has 0 to 28, NR 0 to 27."""


class Gap(Model):
    """A time in which a user neither sends nor receives, as while it goes over to another cell: what waits is
    forwarded, in order."""

    at_s: Seconds = Field(alias="at", examples=["20 s"])
    """When it begins."""
    gap_s: Annotated[Seconds, Field(gt=0)] = Field(alias="gap", examples=["50 ms"])
    """How long it takes."""
    every_s: Annotated[Seconds, Field(gt=0)] | None = Field(None, alias="every", examples=["15 s"])
    """Again after each such time. Left out: once."""

    @model_validator(mode="after")
    def _ends_before_the_next(self) -> Self:
        if self.every_s is not None and self.every_s <= self.gap_s:
            raise WithinError(("every", "must be longer than the gap"))
        return self

    @property
    def numbers(self) -> list[int]:
        """Start, length and period in nanoseconds, as plans have them."""
        return [to_nanoseconds(time_s) for time_s in (self.at_s, self.gap_s, self.every_s or 0.0)]


class Blockage(Model):
    """What stands in the way now and then, for exponentially distributed times, as a body in that of
    millimetre waves."""

    depth_db: Annotated[Decibels, Field(ge=0)] = Field(alias="depth", examples=["25 dB"])
    """What it takes from the signal-to-noise ratio."""
    lasting_s: Annotated[Seconds, Field(ge=1e-3, le=1e6)] = Field(alias="lasting", examples=["500 ms"])
    """How long it stays, in the mean."""
    free_s: Annotated[Seconds, Field(ge=1e-3, le=1e6)] = Field(alias="free", examples=["4 s"])
    """How long the way is free, in the mean. It is at the beginning."""

    @property
    def numbers(self) -> list[float]:
        """As plans have them."""
        return [self.depth_db, self.lasting_s, self.free_s]


class User(Station):
    """A node in a cellular cell."""

    node: Name = Field(examples=["handset"])
    rate: Annotated[MobileRate, short_for("law")] = Field(MobileRate(law="cqi"), examples=["{ mcs = 20 }"])
    """Of both directions: `{ mcs = 20 }` or "cqi"."""
    errors: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Probability that a transport block is not decoded, each try by itself, in both directions."""
    snr: Snr = Field(None, examples=["18 dB"])
    """Signal-to-noise ratio at either end, or a table of how it changes. Left out: so high that noise takes
    nothing."""

    blockage: Blockage | None = Field(
        None, examples=['{ depth = "25 dB", lasting = "500 ms", free = "4 s" }']
    )
    """What may stand in the way, of a user with a signal-to-noise ratio. Left out: nothing."""
    handovers: Annotated[tuple[Gap, ...], Field(max_length=1_000)] = Field(
        (), examples=['[{ at = "20 s", gap = "50 ms" }]']
    )
    """When it goes over to another cell, which is taken to be like this one."""

    @model_validator(mode="after")
    def _has_a_ratio_if_blocked(self) -> Self:
        if self.blockage is not None and self.snr is None:
            raise WithinError(("snr", 'missing; a blockage takes from it; write for example snr = "20 dB"'))
        return self

    @property
    def law(self) -> str:
        """How rates are chosen. What noise does not touch has the highest rate, and that is fixed."""
        return "fixed" if self.rate.law == "cqi" and self.snr is None else self.rate.law


class Uplink(Model):
    """How users ask for what they send, and how much is granted when (TS 36.321, TS 38.321, 5.4)."""

    request_period_s: Period = Field(0.01, alias="request_period", examples=["5 ms"])
    """Time between two opportunities of a user for a scheduling request."""
    grant_delay_s: Annotated[Seconds, Field(le=1)] = Field(0.008, alias="grant_delay", examples=["3 ms"])
    """From a request, or from a report of what waits, until that may be sent."""
    first_grant_bytes: Annotated[Bytes, Field(ge=40, le=10**6)] = Field(
        150, alias="first_grant", examples=["150 B"]
    )
    """What a request is granted, which does not say how much waits."""
    layers: Annotated[int, Field(strict=True, ge=1, le=8)] = 1
    """Spatial layers."""


class Harq(Model):
    """Fast repetition of transport blocks."""

    round_trip_s: Period | None = Field(None, alias="round_trip", examples=["8 ms"])
    """From the start of a block until it may be repeated. Left out: that of the kind."""
    tries: Annotated[int, Field(strict=True, ge=1, le=32)] = 4
    """How often a block is sent."""


class Rlc(Model):
    """What becomes of a block that is not decoded in its last try."""

    mode: Literal["am", "um"] = "am"
    """Acknowledged: it is sent again after a status report; unacknowledged: it is lost."""
    retransmission_s: Annotated[Seconds, Field(le=10)] = Field(
        0.04, alias="retransmission", examples=["40 ms"]
    )
    """Acknowledged: from the end of the last try until it goes again."""
    reordering_s: Annotated[Seconds, Field(le=10)] = Field(0.05, alias="reordering", examples=["50 ms"])
    """Unacknowledged: how long what comes behind a lost block is held (t-Reordering)."""


class Cqi(Model):
    """Reports of the signal-to-noise ratio, by which schemes are chosen."""

    period_s: Period = Field(0.005, alias="period", examples=["5 ms"])
    """Time between two."""
    delay_s: Annotated[Seconds, Field(le=1)] = Field(0.006, alias="delay", examples=["6 ms"])
    """Time until one counts."""
    target_errors: Annotated[float, Field(ge=0.001, le=0.5)] = 0.1
    """The share of blocks that are not decoded at first, which the base station aims at."""


class Drx(Model):
    """Discontinuous reception: a user that has been idle listens in a part of each cycle only (TS 36.321,
    TS 38.321, 5.7). What it sends itself does not wait."""

    cycle_s: Annotated[Seconds, Field(gt=0, le=100)] = Field(alias="cycle", examples=["160 ms"])
    """Time from one window in which it listens to the next."""
    on_s: Annotated[Seconds, Field(gt=0, le=100)] = Field(0.01, alias="on", examples=["10 ms"])
    """How long a window is."""
    inactivity_s: Annotated[Seconds, Field(le=100)] = Field(0.1, alias="inactivity", examples=["100 ms"])
    """How long it listens after the last block that was new, either way."""


class Satellites(Model):
    """Satellites between the base station and its users, which take over from one another: each adds a
    propagation delay, drawn from the seed evenly between two, the same both ways and for all users."""

    at_s: Seconds = Field(alias="at", examples=["12 s"])
    """When the second one takes over from the first."""
    every_s: Annotated[Seconds, Field(ge=1e-3)] = Field(alias="every", examples=["15 s"])
    """Again after each such time."""
    low_s: Annotated[Seconds, Field(le=1)] = Field(alias="low", examples=["3.7 ms"])
    """The least delay of one, one way."""
    high_s: Annotated[Seconds, Field(le=1)] = Field(alias="high", examples=["7.5 ms"])
    """The most."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.high_s < self.low_s:
            raise WithinError(("high", "must be no less than low"))
        return self

    @property
    def numbers(self) -> list[int]:
        """As plans have them, in nanoseconds."""
        return [to_nanoseconds(time_s) for time_s in (self.at_s, self.every_s, self.low_s, self.high_s)]


class Background(Model):
    """Users beside those of the cell: each competes for resource blocks while it has something to send, at
    the highest rate of the cell."""

    users: Annotated[int, Field(strict=True, ge=0, le=1_000)] = 0
    """How many."""
    load: Annotated[float, Field(ge=0.001, le=1)] = 0.5
    """The share of the time in which each has something to send."""
    burst_s: Annotated[Seconds, Field(ge=1e-3, le=1_000)] = Field(0.1, alias="burst", examples=["100 ms"])
    """How long it then has, in the mean; exponentially distributed, as the times between are."""


class Cellular(CellModel):
    """A base station and its users. In each slot it gives resource blocks to users that have something to
    send, one transport block to each; what is not decoded is repeated, and what is behind waits for it.

    Each user has two ports: one from the base station to it, whose name ends in `-down`, and one back, in
    `-up`.
    """

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    hub: Name = Field(
        "base-station",
        validation_alias=AliasChoices("hub", "base_station"),
        serialization_alias="hub",
        examples=["mast"],
    )
    """The node of the base station, which may be written as `base_station`, too. In a dumbbell it is the
    router between the wire and the cell."""
    stations: Annotated[tuple[User, ...], Field(min_length=1)] = Field(
        alias="users", examples=['[{ node = "handset" }]']
    )
    """Who is in the cell."""
    queue: Queue = Field(DropTail(bytes="1.5 MB"), examples=['{ bytes = "1.5 MB" }'])
    """The buffer of RLC: of each user, down and up, that has none of its own. Each has one to itself."""
    pattern: Pattern = Field("FDD", examples=["DDDSU"])
    """Slots of time division: D goes down, U up, S is divided as `special` says. "FDD": every slot goes both
    ways, on two carriers."""
    special: Literal["10:2:2", "6:4:4"] = "10:2:2"
    """Symbols of an S slot that go down, are a gap, and go up."""
    layers: Annotated[int, Field(strict=True, ge=1, le=8)] = 1
    """Spatial layers of the way down."""
    scheduler: Literal["round_robin", "proportional_fair"] = "proportional_fair"
    """Whose turn it is: users in order, or who can get most compared with what it has had."""
    fairness_slots: Annotated[int, Field(strict=True, ge=1, le=10**6)] = 100
    """Slots over which proportional fairness averages what a user has had."""
    processing_s: Annotated[Seconds, Field(le=1)] | None = Field(None, alias="processing", examples=["1 ms"])
    """From the end of a slot until what it carried is decoded. Left out: that of the kind."""
    delay_s: Delay = Field(0.0, alias="delay", examples=["1 ms"])
    """Propagation delay between the base station and any user."""
    uplink: Uplink = Uplink()
    """How users get to send."""
    harq: Harq = Harq()
    """Fast repetition of blocks."""
    rlc: Annotated[Rlc, short_for("mode")] = Rlc()
    """`"am"`, `"um"`, or a table."""
    cqi: Cqi = Cqi()
    """Reports of the signal-to-noise ratio."""
    background: Background = Background()
    """Others who use the cell."""
    drx: Drx | None = Field(None, examples=['{ cycle = "160 ms" }'])
    """How users sleep. Left out: they always listen."""
    gaps: Annotated[tuple[Gap, ...], Field(max_length=1_000)] = Field(
        (), examples=['[{ at = "12 s", gap = "80 ms", every = "15 s" }]']
    )
    """Times in which nothing is sent in the whole cell."""
    satellites: Satellites | None = Field(
        None, examples=['{ at = "12 s", every = "15 s", low = "3.7 ms", high = "7.5 ms" }']
    )
    """What the way to the users leads over, beside `delay`. Left out: nothing that changes."""

    @property
    @abstractmethod
    def carrier(self) -> tuple[int, int]:
        """Its resource blocks and its numerology."""

    @property
    @abstractmethod
    def times_s(self) -> tuple[float, float]:
        """The round trip of HARQ and the processing that it has if they are left out."""

    @property
    def mean_delay_s(self) -> float:
        """Propagation one way, with the mean of satellites."""
        over = self.satellites
        return self.delay_s + ((over.low_s + over.high_s) / 2 if over else 0.0)

    @property
    def symbols(self) -> tuple[list[int], list[int]]:
        """Of each slot of the pattern, down and up."""
        if self.pattern == "FDD":
            return [SYMBOLS], [SYMBOLS]
        down, _, up = (int(part) for part in self.special.split(":"))
        ways = ({"D": SYMBOLS, "S": down, "U": 0}, {"D": 0, "S": up, "U": SYMBOLS})
        there, back = ([way[slot] for slot in self.pattern] for way in ways)
        return there, back

    def mcs_of(self, user: User) -> int:
        """That of a user; if its rate is chosen, the highest."""
        return limits(self.kind).mcs if user.rate.mcs is None else user.rate.mcs

    def ports(self) -> Iterator[CellPort]:
        """For every user that from the base station to it, and the one back."""
        down, up = self.symbols
        for i, user in enumerate(self.stations):
            way, node = f"{self.name}-{user.node}", user.node
            queue, place = self.queue_of(i)
            there = self._rate_bps(user, down, self.layers)
            back = self._rate_bps(user, up, self.uplink.layers)
            yield CellPort(f"{way}-down", self.hub, (node,), self.queue, there, "")
            yield CellPort(f"{way}-up", node, (self.hub,), queue, back, place)

    def params(self) -> dict[str, Any]:
        """As the plan of the native engine has them."""
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

    def _rate_bps(self, user: User, symbols: list[int], layers: int) -> int | None:
        resource_blocks, numerology = self.carrier
        mcs = self.mcs_of(user)
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
                raise WithinError((key, f"{self.kind} has at most {most.layers}, got {layers}"))
        for i, user in enumerate(self.stations):
            if user.rate.mcs is not None and user.rate.mcs > most.mcs:
                where = f"users[{i}].rate.mcs"
                raise WithinError((where, f"{self.kind} has 0 to {most.mcs}, got {user.rate.mcs}"))
        return self

    @model_validator(mode="after")
    def _leaves_time_between_gaps(self) -> Self:
        for i, user in enumerate(self.stations):
            gaps = (*self.gaps, *user.handovers)
            if sum(gap.gap_s / gap.every_s for gap in gaps if gap.every_s) >= 1:
                where = f"users[{i}].handovers" if user.handovers else "gaps"
                raise WithinError((where, "take all of the time; make some shorter or rarer"))
        return self


def _drx(drx: Drx | None) -> dict[str, int]:
    times_s = (0.0, 0.01, 0.1) if drx is None else (drx.cycle_s, drx.on_s, drx.inactivity_s)
    keys = ("drx_cycle_ns", "drx_on_ns", "drx_inactivity_ns")
    return {key: to_nanoseconds(time_s) for key, time_s in zip(keys, times_s, strict=True)}
