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
    "packetdrill",
    "packetdrill_judge",
    "packetdrill_plan",
    "plan_schema",
    "registry",
    "round_trips",
    "stream",
    "tables",
    "wifi",
    "wifi_rate_bps",
]

MAX_ROWS: int
"""Most rows of a sampled table."""
VERSION: str
"""Version of the package."""
MODEL_VERSION: str
SCHEMA_VERSION: int
"""Version of the tables; it changes with the name, type or meaning of a column."""
SOURCES: str
"""Fingerprint of the simulator's sources, which changes whenever results may change."""
ALGORITHMS: str
"""Fingerprint of the sources of the algorithms and their C interface."""
COMMIT: str
"""Commit from which a release build was made; empty if unknown."""
PROFILE: Literal["dev", "release"]
"""Cargo profile of the build; it never changes results."""
CONGESTION_HEADER: str
"""C header of the algorithms; the symbol that it declares is in this module's shared library."""

"""NaN where nothing was measured."""

class PlanError(ValueError):
    """A plan that cannot be simulated."""

    path: str
    """Place of the error, for example ``flows[1].cca``; empty for the plan as a whole."""
    message: str
    """The problem and what to write instead."""
    problems: list[tuple[str, str]]
    """Path and message of every error, this one first."""

class SimulationPanic(RuntimeError):  # noqa: N818
    """The simulator violated one of its own invariants. The simulation cannot be used any more."""

    digest: str
    """A hash of the plan."""
    seed: int

@type_check_only
class Param(TypedDict):
    """A parameter of an entry of the registry."""

    name: str
    doc: str
    unit: str
    kind: str
    """Kind of its values: "whole" numbers, any "number", a "switch", a "choice" of texts or a "list"."""
    choices: list[str]
    required: bool
    """Whether the parameter has no default."""
    default: Any
    min: float | None
    max: float | None
    role: Literal["limit", "rate", "off", "share"] | None
    """Limit of a queue in the unit of the parameter, rate of a link, number without effect at 0 ("off"), or
    number that figures show in percent ("share"); None for other parameters."""
    label: str
    """Short name in figures and tables. Empty: the name."""
    example: Any
    """A usual value, of a parameter without a default."""

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
class PacketdrillDifference(TypedDict):
    """The first difference between a packetdrill script and a TCP."""

    packet: int | None
    """Number of the expected packet in the script, from 1; None for an assertion."""
    time_s: float
    expected: str
    seen: str

@type_check_only
class PacketdrillOutcome(TypedDict):
    """The verdict on a packetdrill script, and its cause."""

    verdict: Literal["passed", "failed", "says_nothing", "not_applicable", "malformed"]
    line: int | None
    """Line at which the script ended early, from 1."""
    reason: str | None
    """What the model lacks, or the error in the text."""
    difference: PacketdrillDifference | None
    packets: int
    """Compared packets, without the fixed packets of a handshake."""
    assertions: int
    """Compared assertions."""
    unread: list[str]
    """Names in assertions that the model cannot read."""

@type_check_only
class WifiStandard(TypedDict):
    """Limits of a Wi-Fi standard."""

    name: str
    bands: list[int]
    """Frequency bands in MHz."""
    widths: list[tuple[int, int]]
    """Channel widths in MHz, each with its number of data subcarriers."""
    guard_intervals: list[int]
    """Guard intervals in nanoseconds."""
    streams: int
    """Most spatial streams."""
    mcs: int
    """Highest scheme, counted for each number of streams."""
    ampdu_bytes: int
    """Largest aggregate (A-MPDU) in bytes."""
    window: int
    """Data frames that a block ACK covers."""

@type_check_only
class WifiTables(TypedDict):
    """Data common to all Wi-Fi cells."""

    standards: list[WifiStandard]
    control_rates_bps: list[int]
    """OFDM rates of control frames."""

@type_check_only
class CellularLimits(TypedDict):
    """Limits of a generation of cellular networks."""

    resource_blocks: int
    numerology: int
    layers: int
    mcs: int

@type_check_only
class ColumnSchema(TypedDict):
    """A column of a table."""

    name: str
    kind: str
    """Type of its values: "text", "count" (whole numbers) or "real"."""
    unit: str
    """Empty for texts."""
    meaning: str
    span: str
    """Time span, if not obvious."""

@type_check_only
class TableSchema(TypedDict):
    """A table of a run."""

    name: str
    row: str
    """Subject of one row."""
    columns: list[ColumnSchema]

"""Numbers, NaN where nothing was measured; counts; or texts."""

@type_check_only
class Results(TypedDict):
    """All results of a run."""

    tables: Mapping[str, bytes]
    """Tables with rows by their names in `tables()`: streams of Arrow IPC with the columns described there,
    null if nothing was measured."""
    data_packets: int
    """Data segments sent by all senders."""
    packet_hops: int
    """Packets forwarded, over all links."""

@final
class Simulation:
    """A simulation that can be run in steps. Steps never change results."""

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
        ``threads``: the largest number of threads, which never changes results.
        With ``samples``, `sampled` returns samples before the end. Releases the GIL.

        Raises PlanError if the plan makes no sense.
        """

    @property
    def duration_ns(self) -> int:
        """Simulated time of the whole run in nanoseconds."""

    @property
    def captured(self) -> int:
        """Number of captured packets so far. A packet counts once per capture point."""

    @property
    def observed(self) -> int:
        """Number of recorded values of internal variables so far."""

    def advance(self, until_ns: int) -> int:
        """Run up to and including ``until_ns``, but at most 65,536 events, and return the time reached.

        All events up to and including that time have been run. Call it again if the time is earlier than
        ``until_ns``. Releases the GIL.
        """

    def sampled(self) -> Mapping[str, bytes]:
        """Tables "series" and "links" with the samples since the last call, as `finish` returns them.

        Tables without rows are left out. Without ``samples`` both tables are left out.
        """

    def finish(self) -> Results:
        """Run to the end and return the tables. The simulation cannot be used later. Releases the GIL."""

@final
class RateSample:
    """A delivery-rate sample."""

    @property
    def delivered(self) -> int:
        """Packets delivered over the interval."""

    @property
    def interval_s(self) -> float | None:
        """Length of the interval in seconds; None if the sample has no rate."""

    @property
    def packets_per_s(self) -> float | None:
        """Packets per second; None without an interval."""

    @property
    def app_limited(self) -> bool:
        """Whether the sampled packet was sent while the application limited the sender."""

    @property
    def prior_delivered(self) -> int:
        """``Path.delivered`` when the sampled packet was sent."""

    @property
    def lost(self) -> int:
        """Packets marked lost since the sampled packet was sent."""

    @property
    def marked(self) -> int:
        """Packets reported CE-marked since the sampled packet was sent."""

    @property
    def tx_in_flight(self) -> int:
        """Packets in flight just after the sampled packet was sent, itself included."""

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
    """Report of one ACK or, unless the class sets `per_ack`, of all ACKs of a round trip."""

    @property
    def acks(self) -> int:
        """Number of ACKs in this report."""

    @property
    def acked(self) -> int:
        """Packets newly acknowledged."""

    @property
    def lost(self) -> int:
        """Packets newly marked lost."""

    @property
    def marked(self) -> int:
        """Packets newly reported CE-marked."""

    @property
    def rtts(self) -> int:
        """Number of RTT samples in ``rtt_min_s``, ``rtt_mean_s`` and ``rtt_max_s``."""

    @property
    def rtt_s(self) -> float | None:
        """Last RTT sample in seconds."""

    @property
    def rtt_min_s(self) -> float | None:
        """Smallest RTT sample in seconds."""

    @property
    def rtt_mean_s(self) -> float | None:
        """Mean RTT sample in seconds."""

    @property
    def rtt_max_s(self) -> float | None:
        """Largest RTT sample in seconds."""

    @property
    def one_way_delay_s(self) -> float | None:
        """One-way delay of the last packet in seconds."""

    @property
    def delayed(self) -> bool:
        """Whether the last RTT may be too long, as a delayed-ACK timer seems to have delayed the ACK."""

    @property
    def prior_in_flight(self) -> int:
        """Packets in flight before the last ACK."""

    @property
    def may_grow(self) -> bool:
        """Whether a window-based algorithm may grow its window."""

    @property
    def advanced(self) -> bool:
        """Whether the cumulative acknowledgement advanced."""

    @property
    def una(self) -> int:
        """First packet that is not cumulatively acknowledged."""

    @property
    def rate(self) -> RateSample | None:
        """Delivery-rate sample; for a round trip, the sample with the highest rate."""

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
    """State of the path and of the sender at the time of an event."""

    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""

    @property
    def mss(self) -> int:
        """Payload of a full packet, bytes."""

    @property
    def state(self) -> str:
        """State of loss recovery: "open", "disorder", "cwr", "recovery" or "loss"."""

    @property
    def srtt_s(self) -> float | None:
        """Smoothed RTT in seconds."""

    @property
    def min_rtt_s(self) -> float | None:
        """Smallest RTT of the last five minutes in seconds."""

    @property
    def in_flight(self) -> int:
        """Packets in flight."""

    @property
    def packets_out(self) -> int:
        """Packets sent and not cumulatively acknowledged."""

    @property
    def next(self) -> int:
        """Sequence number of the next new packet, counted in packets."""

    @property
    def delivered(self) -> int:
        """Packets delivered since the start."""

    @property
    def lost(self) -> int:
        """Packets marked lost since the start."""

    @property
    def marked(self) -> int:
        """Packets reported CE-marked since the start."""

    @property
    def ecn(self) -> bool:
        """Whether ECN was negotiated."""

    @property
    def cwnd_limited(self) -> bool:
        """Whether the congestion window limited the sender."""

    @property
    def app_limited(self) -> bool:
        """Whether the application limits the sender."""

    @property
    def paced(self) -> bool:
        """Whether the flow is paced."""

    @property
    def pacing_bps(self) -> int:
        """Pacing rate of payload in bit/s."""

    @property
    def max_burst_bytes(self) -> int:
        """Largest burst in bytes."""

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
    """Start of a congestion episode."""

    @property
    def kind(self) -> str:
        """Cause: "loss", "tail_loss", "ecn", "delay" (requested with ``reduce``) or "timeout"."""

    @property
    def first(self) -> bool:
        """False for timeouts after the first of an episode, which do not reduce again."""

    def __new__(
        cls,
        *,
        kind: str = ...,
        first: bool = True,
    ) -> Episode: ...

@final
class Undo:
    """State to restore after a spurious episode."""

    @property
    def prior_cwnd(self) -> int:
        """Window at the start of the episode in packets."""

    @property
    def prior_ssthresh(self) -> int:
        """Slow-start threshold at the start of the episode in packets; 0 if it must not be restored."""

    def __new__(
        cls,
        *,
        prior_cwnd: int = 0,
        prior_ssthresh: int = 0,
    ) -> Undo: ...

@final
class Sent:
    """A burst that is about to be sent."""

    @property
    def packets(self) -> int:
        """Packets in the burst."""

    @property
    def from_idle(self) -> bool:
        """Whether nothing was in flight before the burst."""

    @property
    def gap_s(self) -> float:
        """Time since the previous burst in seconds."""

    def __new__(
        cls,
        *,
        packets: int = 1,
        from_idle: bool = False,
        gap_s: float = 0.0,
    ) -> Sent: ...

@final
class LostPacket:
    """A packet that was just marked lost."""

    @property
    def number(self) -> int:
        """Number of the packet."""

    @property
    def tx_in_flight(self) -> int:
        """Packets in flight just after the packet was sent."""

    @property
    def lost(self) -> int:
        """Packets marked lost since the packet was sent, itself included."""

    @property
    def app_limited(self) -> bool:
        """Whether the packet was sent while the application limited the sender."""

    def __new__(
        cls,
        *,
        number: int = 0,
        tx_in_flight: int = 0,
        lost: int = 1,
        app_limited: bool = False,
    ) -> LostPacket: ...

def judge(factory: Callable[[], Any], script: bytes) -> tuple[str, str, str] | None:
    """Feed an algorithm with events that derive from any bytes; return the first invariant that it violates.

    Returns the name of the invariant, the problem, and the event; None if no invariant is violated.
    """

def round_trips(factory: Callable[[], Any], count: int) -> str:
    """Return a table of an algorithm on an ideal path, with one line per round trip."""

def plan_schema() -> str:
    """Return the JSON Schema of a plan (draft 2020-12): every field with its type and meaning."""

def registry() -> dict[str, list[Description]]:
    """Return all families of things that are chosen by name: "algorithms", "queues", "losses", "impairments",
    "media", "applications" and "distributions". "transport" has the options of TCP and its quirks, with the
    names and units of the plan's fields."""

def tables() -> list[TableSchema]:
    """Describe the tables of a run."""

def columns(stream: bytes) -> dict[str, list[Any]]:
    """Return the values of a table, a stream of Arrow IPC, by column; None for missing values.

    Raises ValueError if it is no such stream, or has a column that holds neither texts, whole numbers of
    64 bits, reals of 64 bits nor flags.
    """

def joined(streams: list[bytes], ids: list[int]) -> bytes:
    """Concatenate tables with the same columns into a stream of Arrow IPC.

    The first column `id` has the number of the table in `ids`. Releases the GIL.

    Raises ValueError as `columns` does, and if the tables have different columns or there is none.
    """

def stream(columns: list[tuple[str, str, list[Any]]]) -> bytes:
    """Encode a table as a stream of Arrow IPC; each column has a name, a kind and values, None for null.

    A kind is "text", "count", "real" or "flag". Raises TypeError if a value is of another kind.
    """

def cellular() -> dict[str, CellularLimits]:
    """Return the limits of the generations of cellular networks, by kind of cell."""

def cellular_rate_bps(
    kind: str, numerology: int, symbols: list[int], resource_blocks: int, layers: int, mcs: int
) -> int | None:
    """Return the rate of transport blocks over a pattern of slots in bit/s; None if there is no such mode."""

def packetdrill(script: str, defaults: str = "") -> PacketdrillOutcome:
    """Play a packetdrill script against the simulator's TCP and return the verdict.

    `defaults` is the text of the kernel's defaults.sh, which its scripts run. Releases the GIL.
    """

def packetdrill_plan(script: str, defaults: str) -> str | PacketdrillOutcome:
    """Translate a script for the program in the guest of the Linux engine, or return the verdict if the
    program cannot play it."""

def packetdrill_judge(script: str, recording: str) -> PacketdrillOutcome:
    """Compare a script with the recording that the guest has made of it, and return the verdict."""

def wifi() -> WifiTables:
    """Return the limits of the Wi-Fi standards."""

def wifi_rate_bps(
    standard: str, width_mhz: int, streams: int, mcs: int, guard_interval_ns: int
) -> int | None:
    """Return the rate within the data field of a PPDU in bit/s; None if the standard has no such mode."""
