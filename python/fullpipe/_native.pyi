"""The simulator: a plan (JSON) and a seed in, tables of columns out. `plan_schema` describes the plan."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, TypedDict, final, type_check_only

__all__ = [
    "ALGORITHMS",
    "COMMIT",
    "CONGESTION_HEADER",
    "MAX_ROWS",
    "MODEL_VERSION",
    "PROFILE",
    "SCHEMA_VERSION",
    "SOURCES",
    "VERSION",
    "Ack",
    "Episode",
    "LostPacket",
    "Path",
    "PlanError",
    "RateSample",
    "Sent",
    "Simulation",
    "SimulationPanic",
    "Undo",
    "cellular",
    "cellular_rate_bps",
    "columns",
    "joined",
    "judge",
    "plan_schema",
    "registry",
    "round_trips",
    "stream",
    "tables",
    "wifi",
    "wifi_rate_bps",
]

MAX_ROWS: int
"""Most rows of one table that is sampled."""
VERSION: str
"""Of the package."""
MODEL_VERSION: str
SCHEMA_VERSION: int
"""Changes whenever a column of a table changes its name, its type or its meaning."""
SOURCES: str
"""Changes whenever the results of some plan may."""
ALGORITHMS: str
"""Changes whenever the algorithms may, or their C interface."""
COMMIT: str
"""Commit of the clone that a release build was made from; empty if it is not known."""
PROFILE: Literal["dev", "release"]
"""Cargo profile of the build; results are the same."""
CONGESTION_HEADER: str
"""The C header of the algorithms; the symbol that it declares is in this module's shared library."""

"""NaN where nothing was measured."""

class PlanError(ValueError):
    """A plan that cannot be simulated."""

    path: str
    """Where, for example ``flows[1].cca``; empty for the plan as a whole."""
    message: str
    """What, and what would be right."""
    problems: list[tuple[str, str]]
    """Path and message of everything that is wrong, this first."""

class SimulationPanic(RuntimeError):  # noqa: N818
    """The simulator broke one of its own rules. The simulation cannot be used any more."""

    digest: str
    """A hash of the plan."""
    seed: int

@type_check_only
class Param(TypedDict):
    """A parameter of an algorithm or a queue discipline."""

    name: str
    doc: str
    unit: str
    kind: str
    """What it takes: "whole" numbers, any "number", a "switch", a "choice" of texts or a "list"."""
    choices: list[str]
    required: bool
    """It has no default."""
    default: Any
    min: float | None
    max: float | None
    role: Literal["limit", "rate"] | None
    """What it limits, if anything: what waits, in its unit, or the rate of a link."""

@type_check_only
class Preset(TypedDict):
    """A named set of values for the parameters of an algorithm."""

    name: str
    values: dict[str, Any]

@type_check_only
class Description(TypedDict):
    """A congestion control algorithm or a queue discipline; only the former have presets."""

    name: str
    title: str
    source: str
    aliases: list[str]
    params: list[Param]
    presets: NotRequired[list[Preset]]

@type_check_only
class WifiStandard(TypedDict):
    """What a standard of Wi-Fi permits."""

    name: str
    bands: list[int]
    """In MHz."""
    widths: list[tuple[int, int]]
    """Of a channel in MHz, and subcarriers that carry data."""
    guard_intervals: list[int]
    """In nanoseconds."""
    streams: int
    """At most."""
    mcs: int
    """The last one, counted for each number of streams."""
    ampdu_bytes: int
    """Of an aggregate at most."""
    window: int
    """Data frames that a block ACK tells of."""

@type_check_only
class WifiTables(TypedDict):
    """What is common to all Wi-Fi cells."""

    standards: list[WifiStandard]
    control_rates_bps: list[int]
    """Of OFDM, in which control frames are sent."""

@type_check_only
class CellularLimits(TypedDict):
    """What a generation of cellular networks has at most."""

    resource_blocks: int
    numerology: int
    layers: int
    mcs: int

@type_check_only
class ColumnSchema(TypedDict):
    """A column of a table."""

    name: str
    kind: str
    """What its values are: "text", "count" (whole numbers) or "real"."""
    unit: str
    """Empty for texts."""
    meaning: str
    span: str
    """The time that it is of, where that does not go without saying."""

@type_check_only
class TableSchema(TypedDict):
    """A table of a run."""

    name: str
    row: str
    """What one row stands for."""
    columns: list[ColumnSchema]

"""Numbers, NaN where nothing was measured; counts; or texts."""

@type_check_only
class Results(TypedDict):
    """Everything a run gives."""

    tables: Mapping[str, bytes]
    """By the names of `tables()`, without those that have no rows: streams of Arrow IPC with the columns
    there, null where nothing was measured."""
    data_packets: int
    """Data segments sent by all senders."""
    packet_hops: int
    """Packets forwarded, over all links."""

@final
class Simulation:
    """A simulation that can be run in steps. Stepping never changes results."""

    def __new__(
        cls,
        plan_json: str,
        seed: int,
        controllers: dict[str, Any] | None = None,
        threads: int = 1,
        samples: bool = False,
    ) -> Simulation:
        """Build everything that the plan describes. All randomness comes from the seed.

        ``controllers`` has a factory, called with parameters and a seed, for every kind with a colon in it.
        ``threads``: on how many it is executed at most, which has no influence on results.
        With ``samples``, `sampled` has those taken so far. Releases the GIL.

        Raises PlanError if the plan makes no sense.
        """

    @property
    def duration_ns(self) -> int:
        """Simulated time of the whole run in nanoseconds."""

    @property
    def captured(self) -> int:
        """How many packets have been captured so far, once for every point."""

    @property
    def observed(self) -> int:
        """How many internal variables have been written down so far."""

    def advance(self, until_ns: int) -> int:
        """Run up to and including ``until_ns``, or as far as 65,536 events lead; return the time reached.

        Everything up to and including that time has happened. Call it again while it is earlier than wanted.
        Releases the GIL.
        """

    def sampled(self) -> Mapping[str, bytes]:
        """The tables "series" and "links" of what was sampled since the last call, as `finish` returns them.

        Without those that have no rows; empty unless the simulation was made with ``samples``.
        """

    def finish(self) -> Results:
        """Run to the end and return the tables. The simulation is used up. Releases the GIL."""

@final
class RateSample:
    """A delivery-rate sample."""

    @property
    def delivered(self) -> int:
        """Packets delivered over the interval."""

    @property
    def interval_s(self) -> float | None:
        """Its length in seconds; None if it says nothing of the bandwidth."""

    @property
    def packets_per_s(self) -> float | None:
        """Packets per second; None without an interval."""

    @property
    def app_limited(self) -> bool:
        """The sampled packet was sent while the application was the limit."""

    @property
    def prior_delivered(self) -> int:
        """``Path.delivered`` when it was sent."""

    @property
    def lost(self) -> int:
        """Packets found lost since it was sent."""

    @property
    def marked(self) -> int:
        """Packets reported marked since it was sent."""

    @property
    def tx_in_flight(self) -> int:
        """Packets in flight just after it was sent, itself included."""

    def __new__(
        cls,
        *,
        delivered: int = 0,
        interval_s: float | None = None,
        packets_per_s: float | None = None,
        app_limited: bool = False,
        prior_delivered: int = 0,
        lost: int = 0,
        marked: int = 0,
        tx_in_flight: int = 0,
    ) -> RateSample: ...

@final
class Ack:
    """What one ACK reports or, unless the class says `per_ack`, all the ACKs of a round trip."""

    @property
    def acks(self) -> int:
        """ACKs that this stands for."""

    @property
    def acked(self) -> int:
        """Packets newly acknowledged."""

    @property
    def lost(self) -> int:
        """Packets newly found lost."""

    @property
    def marked(self) -> int:
        """Packets newly reported CE-marked."""

    @property
    def rtts(self) -> int:
        """RTT samples that ``rtt_min_s``, ``rtt_mean_s`` and ``rtt_max_s`` are of."""

    @property
    def rtt_s(self) -> float | None:
        """The last RTT sample in seconds."""

    @property
    def rtt_min_s(self) -> float | None:
        """The smallest one."""

    @property
    def rtt_mean_s(self) -> float | None:
        """Their mean."""

    @property
    def rtt_max_s(self) -> float | None:
        """The largest one."""

    @property
    def one_way_delay_s(self) -> float | None:
        """One-way delay of the last packet in seconds."""

    @property
    def delayed(self) -> bool:
        """The last RTT may be too long: a delayed-ACK timer seems to have held the ACK back."""

    @property
    def prior_in_flight(self) -> int:
        """Packets in flight before the last ACK."""

    @property
    def may_grow(self) -> bool:
        """A window algorithm may grow now."""

    @property
    def advanced(self) -> bool:
        """The cumulative acknowledgement advanced."""

    @property
    def una(self) -> int:
        """Every packet below this number has been acknowledged."""

    @property
    def rate(self) -> RateSample | None:
        """The delivery-rate sample; of a round, the one of the highest rate."""

    def __new__(
        cls,
        *,
        acks: int = 1,
        acked: int = 0,
        lost: int = 0,
        marked: int = 0,
        rtts: int = 0,
        rtt_s: float | None = None,
        rtt_min_s: float | None = None,
        rtt_mean_s: float | None = None,
        rtt_max_s: float | None = None,
        one_way_delay_s: float | None = None,
        delayed: bool = False,
        prior_in_flight: int = 0,
        may_grow: bool = True,
        advanced: bool = True,
        una: int = 0,
        rate: RateSample | None = None,
    ) -> Ack: ...

@final
class Path:
    """The transport's view of the path at one moment."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def mss(self) -> int:
        """Payload of a full packet, bytes."""

    @property
    def state(self) -> str:
        """ "open", "disorder", "cwr", "recovery" or "loss"."""

    @property
    def srtt_s(self) -> float | None:
        """Smoothed RTT in seconds."""

    @property
    def min_rtt_s(self) -> float | None:
        """Smallest RTT of five minutes, in seconds."""

    @property
    def in_flight(self) -> int:
        """Packets in flight."""

    @property
    def packets_out(self) -> int:
        """Packets sent and not cumulatively acknowledged."""

    @property
    def next(self) -> int:
        """Number of the next packet never sent before."""

    @property
    def delivered(self) -> int:
        """Packets delivered since the start."""

    @property
    def lost(self) -> int:
        """Packets deemed lost since the start."""

    @property
    def marked(self) -> int:
        """Packets reported CE-marked since the start."""

    @property
    def ecn(self) -> bool:
        """ECN was negotiated."""

    @property
    def cwnd_limited(self) -> bool:
        """The window was what stopped the sender."""

    @property
    def app_limited(self) -> bool:
        """The application is the limit."""

    @property
    def paced(self) -> bool:
        """The flow is paced."""

    @property
    def pacing_bps(self) -> int:
        """At this rate, bits of payload per second."""

    @property
    def max_burst_bytes(self) -> int:
        """Bytes that one burst may hold."""

    def __new__(
        cls,
        *,
        now_s: float = 0.0,
        mss: int = 1448,
        state: str = ...,
        srtt_s: float | None = None,
        min_rtt_s: float | None = None,
        in_flight: int = 0,
        packets_out: int = 0,
        next: int = 0,
        delivered: int = 0,
        lost: int = 0,
        marked: int = 0,
        ecn: bool = False,
        cwnd_limited: bool = True,
        app_limited: bool = False,
        paced: bool = False,
        pacing_bps: int = 0,
        max_burst_bytes: int = 65536,
    ) -> Path: ...

@final
class Episode:
    """A congestion episode begins."""

    @property
    def kind(self) -> str:
        """ "loss", "tail_loss", "ecn", "delay" (asked for with ``reduce``) or "timeout"."""

    @property
    def first(self) -> bool:
        """False for timeouts after the first of an episode: they do not reduce again."""

    def __new__(
        cls,
        *,
        kind: str = ...,
        first: bool = True,
    ) -> Episode: ...

@final
class Undo:
    """What to go back to after a spurious episode."""

    @property
    def prior_cwnd(self) -> int:
        """Window when it began, packets."""

    @property
    def prior_ssthresh(self) -> int:
        """Threshold when it began, packets; 0 if it must not be restored."""

    def __new__(
        cls,
        *,
        prior_cwnd: int = 0,
        prior_ssthresh: int = 0,
    ) -> Undo: ...

@final
class Sent:
    """A burst is about to be sent."""

    @property
    def packets(self) -> int:
        """Packets in it."""

    @property
    def from_idle(self) -> bool:
        """Nothing was in flight before it."""

    @property
    def gap_s(self) -> float:
        """Seconds since the burst before it."""

    def __new__(
        cls,
        *,
        packets: int = 1,
        from_idle: bool = False,
        gap_s: float = 0.0,
    ) -> Sent: ...

@final
class LostPacket:
    """A packet just deemed lost."""

    @property
    def number(self) -> int:
        """Its number."""

    @property
    def tx_in_flight(self) -> int:
        """Packets in flight just after it was sent."""

    @property
    def lost(self) -> int:
        """Packets found lost since it was sent, itself included."""

    @property
    def app_limited(self) -> bool:
        """It was sent while the application was the limit."""

    def __new__(
        cls,
        *,
        number: int = 0,
        tx_in_flight: int = 0,
        lost: int = 1,
        app_limited: bool = False,
    ) -> LostPacket: ...

def judge(factory: Callable[[], Any], script: bytes) -> tuple[str, str, str] | None:
    """Play events read from any bytes to an algorithm; say which invariant breaks, if any does.

    Returns its name, what is wrong, and after which event; None if all is well.
    """

def round_trips(factory: Callable[[], Any], count: int) -> str:
    """Round trips of an algorithm on an ideal path, one line each."""

def plan_schema() -> str:
    """The JSON Schema of a plan (draft 2020-12): every field with its type and what it means."""

def registry() -> dict[str, list[Description]]:
    """Every family of things that are chosen by name: "algorithms", "queues", "losses", "impairments",
    "media"; and what the plan of a flow may say: "applications", "distributions", and in "transport" the
    options of TCP and its quirks, with the names and units of the plan's fields."""

def tables() -> list[TableSchema]:
    """Describe the tables of a run."""

def columns(stream: bytes) -> dict[str, list[Any]]:
    """Values of a table, a stream of Arrow IPC, by column; None where nothing was measured.

    Raises ValueError if it is no such stream, or has a column that holds neither texts, whole numbers of
    64 bits, reals of 64 bits nor flags.
    """

def joined(streams: list[bytes], ids: list[int]) -> bytes:
    """Rows of tables with the same columns, one table after the other, as a stream of Arrow IPC.

    The column `id` in front has the number of the table in `ids`. Releases the GIL.

    Raises ValueError as `columns` does, and if the tables have different columns or there is none.
    """

def stream(columns: list[tuple[str, str, list[Any]]]) -> bytes:
    """A table as a stream of Arrow IPC; each column has a name, a kind and values, None for null.

    A kind is "text", "count", "real" or "flag". Raises TypeError if a value is of another kind.
    """

def cellular() -> dict[str, CellularLimits]:
    """What the generations of cellular networks have, by kind of cell."""

def cellular_rate_bps(
    kind: str, numerology: int, symbols: list[int], resource_blocks: int, layers: int, mcs: int
) -> int | None:
    """Bits per second of transport blocks over a pattern of slots; None if there is no such mode."""

def wifi() -> WifiTables:
    """What the standards of Wi-Fi permit."""

def wifi_rate_bps(
    standard: str, width_mhz: int, streams: int, mcs: int, guard_interval_ns: int
) -> int | None:
    """The rate within the data field of a PPDU, bit/s; None if the standard has no such mode."""
