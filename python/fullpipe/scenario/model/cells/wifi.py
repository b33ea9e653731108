"""A Wi-Fi cell: an access point and its stations on one channel."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AliasChoices,
    Field,
    ModelWrapValidatorHandler,
    model_validator,
)

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.base import Name, Switch, WithinError, laid_under, short_for
from fullpipe.scenario.model.cells import wifi_phy
from fullpipe.scenario.model.cells.base import CellModel, CellPort, Station
from fullpipe.scenario.model.cells.rates import ChosenRate
from fullpipe.scenario.model.cells.snr import Snr
from fullpipe.scenario.model.cells.wifi_presets import PRESETS
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, to_nanoseconds

MOST_STREAMS = 8
Streams = Annotated[int, Field(strict=True, ge=1, le=MOST_STREAMS)]

_HIGHEST_MCS = 11
_HT_MCS, _HT_STREAMS = 8, 4
"""802.11n numbers those of one stream from 0 to 7, those of two from 8 to 15, and so on (Tables 19-27 to
19-30); the later standards, and scenarios, count streams apart."""


class Rate(ChosenRate):
    """How a station and its access point choose modulation and coding schemes."""

    law: Literal["fixed", "ideal", "minstrel"] = "fixed"
    """Fixed: one MCS, whatever becomes of what is sent; "ideal": the fastest that the signal-to-noise ratio
    of the last frame allows; "minstrel": by what arrives, as Linux does."""
    mcs: Annotated[int, Field(strict=True, ge=0, le=_HIGHEST_MCS)] | None = Field(None, examples=[9])
    """Of a fixed rate. Of 802.11n that of one stream, from 0 to 7, however many there are."""

    @model_validator(mode="before")
    @classmethod
    def _is_no_bit_rate_and_of_one_stream(cls, said: Any) -> Any:
        law, mcs = (said.get("law"), said.get("mcs")) if isinstance(said, dict) else (None, None)
        if isinstance(law, str) and "bit/s" in law:
            text = f"{shown(law)} is no MCS; write a fixed rate as {{ mcs = 0 }}, which the channel's width"
            raise WithinError(("", f"{text}, the guard interval and streams make a bit rate"))
        if type(mcs) is int and _HIGHEST_MCS < mcs < _HT_MCS * _HT_STREAMS:
            raise WithinError(("mcs", f"must be at most {_HIGHEST_MCS}, got {mcs}; {_of_one_stream(mcs)}"))
        return said


class WifiStation(Station):
    """A node in a Wi-Fi cell, and how well it hears and is heard."""

    rate: Annotated[Rate, short_for("law")] = Field(Rate(law="ideal"), examples=["{ mcs = 9 }"])
    """Of both directions: `{ mcs = 9 }`, "ideal" or "minstrel"."""
    streams: Streams | None = None
    """Spatial streams of both directions. Left out: those of the cell."""
    errors: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Probability that a data frame of an aggregate (MPDU) is lost, each by itself, in both directions."""
    snr: Snr = Field(None, examples=["30 dB"])
    """Signal-to-noise ratio at either end, or a table of how it changes; streams share the power. Left out:
    so high that noise takes nothing."""

    @property
    def law(self) -> str:
        """How rates are chosen. What noise does not touch has the highest rate, and that is fixed."""
        return "fixed" if self.rate.law == "ideal" and self.snr is None else self.rate.law


class Wifi(CellModel):
    """An access point and its stations, which take turns on one channel by enhanced distributed channel
    access (EDCA, IEEE 802.11, 10.23.2), best effort, and send aggregates that a block ACK answers.

    Each station has two ports: one from the access point to it, whose name ends in `-down`, and one back, in
    `-up`.
    """

    most_stations: ClassVar[int] = 2_007
    """As many association identifiers there are (IEEE 802.11, 9.4.1.8)."""

    kind: Literal["wifi"] = Field(examples=["wifi"])
    hub: Name = Field(
        "access-point",
        validation_alias=AliasChoices("hub", "access_point"),
        serialization_alias="hub",
        examples=["router"],
    )
    """The node of the access point, which may be written as `access_point`, too. In a dumbbell it is the
    router between the wire and the cell."""
    preset: Literal["home-ax", "old-11n", "ns3", "p4-host"] | None = None
    """Sets other keys, each of which can be given beside it. Left out: none."""
    stations: Annotated[tuple[WifiStation, ...], Field(min_length=1)] = Field(
        examples=['[{ node = "laptop" }]']
    )
    """What joins the access point."""
    standard: Literal["802.11n", "802.11ac", "802.11ax"] = "802.11ax"
    """Wi-Fi 4, 5 or 6."""
    band: Literal["2.4 GHz", "5 GHz"] = "5 GHz"
    """Frequency band, which sets the times between frames."""
    width: Literal["20 MHz", "40 MHz", "80 MHz", "160 MHz"] | None = None
    """Of the channel. Left out: "80 MHz", but "20 MHz" of 802.11n and in the band of 2.4 GHz."""
    streams: Streams = 2
    """Spatial streams."""
    guard_interval: Literal["400 ns", "800 ns", "1600 ns", "3200 ns"] = "800 ns"
    """Between symbols."""
    rts: Switch = False
    """A request to send, and a clear to send, before every aggregate."""
    beacons: Switch = True
    """The access point sends a beacon every 102.4 ms at the lowest rate."""
    bar: Switch = False
    """After a block ACK that did not come, ask for one in an access of its own before anything is sent again,
    as ns-3 does."""
    release_each: Switch = False
    """The receiver hands up every packet when its own part of an aggregate ends, as ns-3 does
    (`PhyEntity::EndOfMpdu`). Left out: all at the end of the aggregate, as a device that interrupts its
    host once for it."""
    max_ampdu_bytes: Annotated[Bytes, Field(ge=1, le=15_523_200)] | None = Field(
        None, alias="max_ampdu", examples=["65535 B"]
    )
    """Of an aggregate. Left out: the limit of the standard."""
    max_ampdu_mpdus: Annotated[int, Field(strict=True, ge=1, le=1_024)] | None = Field(None, examples=[64])
    """Data frames of an aggregate at most. Left out: the window of a block ACK, 64 or, of 802.11ax, 256."""
    control_rate_bps: BitsPerSecond = Field(24_000_000, alias="control_rate", examples=["24 Mbit/s"])
    """Of ACKs, block ACKs, requests and clearances to send."""
    retries: Annotated[int, Field(strict=True, ge=0, le=255)] = 30
    """How often a data frame is sent again before it is given up; 0: until it arrives. Left out: as ath9k has
    it (`ATH_MAX_SW_RETRIES`)."""

    @property
    def width_mhz(self) -> int:
        """Of the channel."""
        if self.width is None:
            return 20 if self.standard == "802.11n" or self.band == "2.4 GHz" else 80
        return int(self.width.split()[0])

    @property
    def band_mhz(self) -> int:
        """The frequency band."""
        return 2_400 if self.band == "2.4 GHz" else 5_000

    @property
    def guard_interval_ns(self) -> int:
        """Between symbols."""
        return int(self.guard_interval.split()[0])

    def streams_of(self, station: WifiStation) -> int:
        """Spatial streams of a station."""
        return station.streams or self.streams

    def mcs_of(self, station: WifiStation) -> int:
        """That of a station; if its rate is chosen, the highest."""
        if station.rate.mcs is not None:
            return station.rate.mcs
        return wifi_phy.highest(self.standard, self.width_mhz, self.streams_of(station))

    def ports(self) -> Iterator[CellPort]:
        """For every station that from the access point to it, and the one back."""
        for i, station in enumerate(self.stations):
            way, node, limit_bps = f"{self.name}-{station.node}", station.node, self._rate_bps(station)
            queue, place = self.queue_of(i)
            yield CellPort(f"{way}-down", self.hub, (node,), self.queue, limit_bps, "")
            yield CellPort(f"{way}-up", node, (self.hub,), queue, limit_bps, place)

    def params(self) -> dict[str, Any]:
        """As the plan of the native engine has them."""
        return {
            "standard": self.standard,
            "band_mhz": self.band_mhz,
            "width_mhz": self.width_mhz,
            "streams": self.streams,
            "guard_interval_ns": self.guard_interval_ns,
            "rts": self.rts,
            "beacons": self.beacons,
            "bar": self.bar,
            "release_each": self.release_each,
            "max_ampdu_bytes": self.max_ampdu_bytes,
            "max_ampdu_mpdus": self.max_ampdu_mpdus,
            "control_rate_bps": self.control_rate_bps,
            "retries": self.retries,
            "delay_ns": to_nanoseconds(self.delay_s),
            "station_mcs": [self.mcs_of(station) for station in self.stations],
            "station_rates": [station.law for station in self.stations],
            "station_snr": [station.snr.numbers if station.snr else [] for station in self.stations],
            "station_streams": [self.streams_of(station) for station in self.stations],
            "station_errors": [station.errors for station in self.stations],
        }

    def _rate_bps(self, station: WifiStation) -> int | None:
        mcs, streams = self.mcs_of(station), self.streams_of(station)
        return wifi_phy.rate_bps(self.standard, self.width_mhz, mcs, streams, self.guard_interval_ns)

    @model_validator(mode="wrap")
    @classmethod
    def _with_preset(cls, values: object, make: ModelWrapValidatorHandler[Self]) -> Self:
        name = values.get("preset") if isinstance(values, Mapping) else None
        return laid_under(values, PRESETS.get(str(name), {}), make)

    @model_validator(mode="after")
    def _has_such_rates(self) -> Self:
        standard = wifi_phy.standards()[self.standard]
        for key, value, known, unit in (
            ("band", self.band_mhz / 1_000, [mhz / 1_000 for mhz in standard.bands_mhz], "GHz"),
            ("width", self.width_mhz, standard.widths_mhz, "MHz"),
            ("guard_interval", self.guard_interval_ns, standard.guard_intervals_ns, "ns"),
        ):
            if value not in known:
                has = suggestion(f"{value:g} {unit}", [f"{one:g} {unit}" for one in known])
                raise WithinError((key, f"{self.standard} has no {value:g} {unit}{has}"))
        if self.band == "2.4 GHz" and self.width_mhz > 40:
            raise WithinError(("width", f'in the band of 2.4 GHz at most "40 MHz", got {shown(self.width)}'))
        if self.control_rate_bps not in wifi_phy.control_rates_bps():
            rates = ", ".join(f"{bps // 10**6}" for bps in wifi_phy.control_rates_bps())
            raise WithinError(
                ("control_rate", f"OFDM has {rates} Mbit/s, got {self.control_rate_bps:,} bit/s")
            )
        if self.streams > standard.streams:
            raise WithinError(
                ("streams", f"{self.standard} has at most {standard.streams}, got {self.streams}")
            )
        for i, station in enumerate(self.stations):
            self._check_rate(f"stations[{i}]", station)
        return self

    def _check_rate(self, where: str, station: WifiStation) -> None:
        streams = self.streams_of(station)
        if streams > self.streams:
            raise WithinError((f"{where}.streams", f"{streams} are more than the {self.streams} of the cell"))
        mcs, most = self.mcs_of(station), wifi_phy.highest(self.standard, self.width_mhz, streams)
        if not wifi_phy.exists(self.standard, self.width_mhz, mcs, streams):
            at = f"{self.standard} has no MCS {mcs} at {self.width_mhz} MHz with {_streams(streams)}"
            apart = f"; {_of_one_stream(mcs)}" if self.standard == "802.11n" and mcs >= _HT_MCS else ""
            raise WithinError((f"{where}.rate.mcs", f"{at}; the highest is {most}{apart}"))


def _of_one_stream(mcs: int) -> str:
    """How an MCS that 802.11n numbers with its streams is written."""
    streams = mcs // _HT_MCS + 1
    return f"an MCS is of one stream here: MCS {mcs} of 802.11n is {mcs % _HT_MCS}, and streams = {streams}"


def _streams(number: int) -> str:
    return "1 stream" if number == 1 else f"{number} streams"
