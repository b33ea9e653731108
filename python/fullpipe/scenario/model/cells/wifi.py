"""A Wi-Fi cell: its standard, rates, aggregation and medium access."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AliasChoices, Field, ModelWrapValidatorHandler, model_validator

from fullpipe import _native
from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.base import Name, Switch, WithinError, laid_under, short_for
from fullpipe.scenario.model.cells.base import CellModel, CellPort, ChosenRate, Snr, Station
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, to_nanoseconds

# Limits of the Wi-Fi standards and the bit rates of their modes, from the native engine.


@dataclass(frozen=True)
class Standard:
    """Limits of a Wi-Fi standard."""

    bands_mhz: tuple[int, ...]
    widths_mhz: tuple[int, ...]
    guard_intervals_ns: tuple[int, ...]
    streams: int
    """Largest number of spatial streams."""
    last_mcs: int
    """Highest MCS, numbered per stream."""
    ampdu_bytes: int
    """Largest aggregate."""
    window: int
    """Maximum number of data frames that a block ACK covers."""


@cache
def standards() -> Mapping[str, Standard]:
    """Return all standards by name."""
    return {
        found["name"]: Standard(
            bands_mhz=tuple(found["bands"]),
            widths_mhz=tuple(width for width, _ in found["widths"]),
            guard_intervals_ns=tuple(found["guard_intervals"]),
            streams=found["streams"],
            last_mcs=found["mcs"],
            ampdu_bytes=found["ampdu_bytes"],
            window=found["window"],
        )
        for found in _native.wifi()["standards"]
    }


@cache
def control_rates_bps() -> tuple[int, ...]:
    """Return the OFDM rates for control frames."""
    return tuple(_native.wifi()["control_rates_bps"])


@cache
def rate_bps(standard: str, width_mhz: int, mcs: int, streams: int, guard_interval_ns: int) -> int | None:
    """Return the bit rate within the data field of a PPDU, or None if the mode does not exist."""
    return _native.wifi_rate_bps(standard, width_mhz, streams, mcs, guard_interval_ns)


def exists(standard: str, width_mhz: int, mcs: int, streams: int) -> bool:
    """Whether a standard has an MCS with this channel width and number of streams."""
    guard_interval_ns = standards()[standard].guard_intervals_ns[0]
    return rate_bps(standard, width_mhz, mcs, streams, guard_interval_ns) is not None


def highest(standard: str, width_mhz: int, streams: int) -> int:
    """Return the highest MCS with this channel width and number of streams."""
    every = range(standards()[standard].last_mcs + 1)
    return max(mcs for mcs in every if exists(standard, width_mhz, mcs, streams))


# Presets of Wi-Fi cells: values of other keys of a cell. Keys set explicitly override a preset.


PRESETS: Mapping[str, Mapping[str, object]] = {
    # A current router and laptop, with Linux's queues.
    "home-ax": {
        "standard": "802.11ax",
        "band": "5 GHz",
        "width": "80 MHz",
        "streams": 2,
        "guard_interval": "800 ns",
        "queue": "mac80211",
    },
    # 144.4 Mbit/s with a drop-tail queue of 1,000 packets before the radio, as in firmware of ath10k before
    # its queues were limited (1,056 to 1,424 descriptors, drivers/net/wireless/ath/ath10k/hw.h).
    "old-11n": {
        "standard": "802.11n",
        "band": "2.4 GHz",
        "width": "20 MHz",
        "streams": 2,
        "guard_interval": "400 ns",
        "queue": {"kind": "drop_tail", "packets": 1_000},
    },
    # The defaults of ns-3.44: WifiHelper, HeConfiguration, WifiMacQueue, QosTxop and BE_MaxAmpduSize. Packets
    # are delivered one by one (PhyEntity::EndOfMpdu), and retries of aggregates are not counted
    # (IncrementRetryCountUnderBa).
    "ns3": {
        "standard": "802.11ax",
        "band": "5 GHz",
        "width": "80 MHz",
        "streams": 1,
        "guard_interval": "3200 ns",
        "max_ampdu": "65535 B",
        "bar": True,
        "release_each": True,
        "retries": 0,
        "queue": {"kind": "drop_tail", "packets": 500},
    },
    # The wireless host of public Flent files of BBR-n+: one stream of 802.11n in 20 MHz. A queue between
    # the TCP sender and the radio held 7 to 10 MB without a drop.
    "p4-host": {
        "standard": "802.11n",
        "band": "2.4 GHz",
        "width": "20 MHz",
        "streams": 1,
        "guard_interval": "800 ns",
        "queue": {"kind": "drop_tail", "bytes": "10 MB"},
    },
}


# A Wi-Fi cell: an access point and its stations on one channel.


MOST_STREAMS = 8
Streams = Annotated[int, Field(strict=True, ge=1, le=MOST_STREAMS)]

_HIGHEST_MCS = 11
_HT_MCS, _HT_STREAMS = 8, 4
"""802.11n numbers the MCS of one stream from 0 to 7, the MCS of two streams from 8 to 15, and so on (Tables
19-27 to 19-30). Later standards, and scenarios, give the number of streams separately."""


class Rate(ChosenRate):
    """Selection of the modulation and coding scheme (MCS) between a station and its access point."""

    law: Literal["fixed", "ideal", "minstrel"] = "fixed"
    """Rate control. "fixed": always the same MCS. "ideal": the fastest MCS that the signal-to-noise ratio of
    the last frame allows. "minstrel": by the share of frames that arrive, as in Linux."""
    mcs: Annotated[int, Field(strict=True, ge=0, le=_HIGHEST_MCS)] | None = Field(None, examples=[9])
    """MCS of a fixed rate. For 802.11n, give the MCS of one stream, 0 to 7, and the number of streams in
    `streams`."""

    @model_validator(mode="before")
    @classmethod
    def _is_no_bit_rate_and_of_one_stream(cls, said: Any) -> Any:
        law, mcs = (said.get("law"), said.get("mcs")) if isinstance(said, dict) else (None, None)
        if isinstance(law, str) and "bit/s" in law:
            text = f"{shown(law)} is no MCS; write {{ mcs = 0 }}: the bit rate follows from the MCS"
            raise WithinError(("", f"{text}, the channel width, the guard interval and the streams"))
        if type(mcs) is int and _HIGHEST_MCS < mcs < _HT_MCS * _HT_STREAMS:
            raise WithinError(("mcs", f"must be at most {_HIGHEST_MCS}, got {mcs}; {_of_one_stream(mcs)}"))
        return said


class WifiStation(Station):
    """A station of a Wi-Fi cell with its radio channel to the access point."""

    rate: Annotated[Rate, short_for("law")] = Field(Rate(law="ideal"), examples=["{ mcs = 9 }"])
    """MCS selection in both directions: `{ mcs = 9 }`, "ideal" or "minstrel"."""
    streams: Streams | None = None
    """Spatial streams in both directions. Left out: the streams of the cell."""
    errors: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Probability that an MPDU (a data frame of an aggregate) is lost, independent for each MPDU, in both
    directions."""
    snr: Snr = Field(None, examples=["30 dB"])
    """Signal-to-noise ratio at both ends: a value, or a table if it varies. The spatial streams share the
    transmit power. Left out: so high that noise causes no errors."""

    @property
    def law(self) -> str:
        """The rate control in use. Without `snr`, "ideal" becomes "fixed" with the highest MCS."""
        return "fixed" if self.rate.law == "ideal" and self.snr is None else self.rate.law


class Wifi(CellModel):
    """An access point and its stations on one channel.

    The access point and the stations contend by enhanced distributed channel access (EDCA, IEEE 802.11,
    10.23.2) in the best-effort category. The access point and the stations send aggregates that are
    acknowledged by block ACKs.

    Each station has two ports: the access point's port to it, whose name ends in `-down`, and its own port to
    the access point, in `-up`.
    """

    most_stations: ClassVar[int] = 2_007
    """Number of association identifiers (IEEE 802.11, 9.4.1.8)."""

    kind: Literal["wifi"] = Field(examples=["wifi"])
    hub: Name = Field(
        "access-point",
        validation_alias=AliasChoices("hub", "access_point"),
        serialization_alias="hub",
        examples=["router"],
    )
    """The node of the access point; also written `access_point`. In a dumbbell, it is the router between the
    wire and the cell."""
    preset: Literal["home-ax", "old-11n", "ns3", "p4-host"] | None = None
    """Preset of other keys; explicit keys override it. Left out: none."""
    stations: Annotated[tuple[WifiStation, ...], Field(min_length=1)] = Field(
        examples=['[{ node = "laptop" }]']
    )
    """The stations of the access point."""
    standard: Literal["802.11n", "802.11ac", "802.11ax"] = "802.11ax"
    """Standard: Wi-Fi 4, 5 or 6."""
    band: Literal["2.4 GHz", "5 GHz"] = "5 GHz"
    """Frequency band. The band determines the times between frames."""
    width: Literal["20 MHz", "40 MHz", "80 MHz", "160 MHz"] | None = None
    """Channel width. Left out: "20 MHz" for 802.11n and in the 2.4 GHz band, otherwise "80 MHz"."""
    streams: Streams = 2
    """Spatial streams."""
    guard_interval: Literal["400 ns", "800 ns", "1600 ns", "3200 ns"] = "800 ns"
    """Guard interval between symbols."""
    rts: Switch = False
    """Exchange RTS and CTS before every aggregate."""
    beacons: Switch = True
    """Send a beacon from the access point every 102.4 ms, at the lowest rate."""
    bar: Switch = False
    """After a missing block ACK, send a block ACK request in a separate channel access before any
    retransmission, as ns-3 does."""
    release_each: Switch = False
    """Deliver each packet when its part of an aggregate has been received, as ns-3 does
    (`PhyEntity::EndOfMpdu`). false: all packets are delivered at the end of the aggregate, as by a device
    that interrupts its host once."""
    max_ampdu_bytes: Annotated[Bytes, Field(ge=1, le=15_523_200)] | None = Field(
        None, alias="max_ampdu", examples=["65535 B"]
    )
    """Largest aggregate in bytes. Left out: the limit of the standard."""
    max_ampdu_mpdus: Annotated[int, Field(strict=True, ge=1, le=1_024)] | None = Field(None, examples=[64])
    """Largest number of data frames in an aggregate. Left out: the block ACK window, which is 64, or 256 for
    802.11ax."""
    control_rate_bps: BitsPerSecond = Field(24_000_000, alias="control_rate", examples=["24 Mbit/s"])
    """Rate of control frames: ACK, block ACK, RTS and CTS."""
    retries: Annotated[int, Field(strict=True, ge=0, le=255)] = 30
    """Retransmissions of a data frame before the frame is dropped; 0: no limit. The default is the limit of
    ath9k (`ATH_MAX_SW_RETRIES`)."""

    @property
    def width_mhz(self) -> int:
        """The channel width."""
        if self.width is None:
            return 20 if self.standard == "802.11n" or self.band == "2.4 GHz" else 80
        return int(self.width.split()[0])

    @property
    def band_mhz(self) -> int:
        """The frequency band."""
        return 2_400 if self.band == "2.4 GHz" else 5_000

    @property
    def guard_interval_ns(self) -> int:
        """The guard interval between symbols."""
        return int(self.guard_interval.split()[0])

    def streams_of(self, station: WifiStation) -> int:
        """Return the spatial streams of a station."""
        return station.streams or self.streams

    def mcs_of(self, station: WifiStation) -> int:
        """Return the fixed MCS of a station, or the highest MCS if the rate is adaptive."""
        if station.rate.mcs is not None:
            return station.rate.mcs
        return highest(self.standard, self.width_mhz, self.streams_of(station))

    def ports(self) -> Iterator[CellPort]:
        """Yield, for every station, the access point's port to it and its port to the access point."""
        for i, station in enumerate(self.stations):
            way, node, limit_bps = f"{self.name}-{station.node}", station.node, self._rate_bps(station)
            queue, place = self.queue_of(i)
            yield CellPort(f"{way}-down", self.hub, (node,), self.queue, limit_bps, "")
            yield CellPort(f"{way}-up", node, (self.hub,), queue, limit_bps, place)

    def params(self) -> dict[str, Any]:
        """Return the parameters of the cell in the format of the native engine's plan."""
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
        return rate_bps(self.standard, self.width_mhz, mcs, streams, self.guard_interval_ns)

    @model_validator(mode="wrap")
    @classmethod
    def _with_preset(cls, values: object, make: ModelWrapValidatorHandler[Self]) -> Self:
        name = values.get("preset") if isinstance(values, Mapping) else None
        return laid_under(values, PRESETS.get(str(name), {}), make)

    @model_validator(mode="after")
    def _has_such_rates(self) -> Self:
        standard = standards()[self.standard]
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
        if self.control_rate_bps not in control_rates_bps():
            rates = ", ".join(f"{bps // 10**6}" for bps in control_rates_bps())
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
        mcs, most = self.mcs_of(station), highest(self.standard, self.width_mhz, streams)
        if not exists(self.standard, self.width_mhz, mcs, streams):
            at = f"{self.standard} has no MCS {mcs} at {self.width_mhz} MHz with {_streams(streams)}"
            apart = f"; {_of_one_stream(mcs)}" if self.standard == "802.11n" and mcs >= _HT_MCS else ""
            raise WithinError((f"{where}.rate.mcs", f"{at}; the highest is {most}{apart}"))


def _of_one_stream(mcs: int) -> str:
    """Return advice on an MCS of 802.11n from 8 on, which includes the number of streams."""
    streams = mcs // _HT_MCS + 1
    return f"write MCS {mcs} of 802.11n as mcs = {mcs % _HT_MCS} with streams = {streams}"


def _streams(number: int) -> str:
    return "1 stream" if number == 1 else f"{number} streams"
