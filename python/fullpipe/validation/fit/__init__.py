"""Fit of an access line's model to measurements of the line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fullpipe.analysis.metrics.delay import bufferbloat_grade, responsiveness
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.tcp import HEADERS_BYTES
from fullpipe.validation.fit.estimate import (
    Base,
    Buffer,
    base_of,
    buffer_of,
    full_s,
    loaded_pings,
    rate_bps,
    wait_of,
)
from fullpipe.validation.fit.measured import WAYS, Measured, Way

# The path of an access line as a scenario, fitted to measurements, with its assumptions and unknowns.


_LEAST_QUEUE_BYTES = 1514


@dataclass(frozen=True)
class Direction:
    """Estimates of one direction of a line."""

    rate_bps: float
    """Rate with headers."""
    is_least_rate: bool
    """Whether the rate is a lower bound, as pings met no standing queue and the line may never have been
    full.
    """
    buffer: Buffer
    increase_s: float | None
    """Mean RTT of pings while the direction was busy, less the RTT of the idle line; None if one of these is
    unknown."""
    rpm: float | None
    """Round trips per minute while the direction was busy."""

    @property
    def grade(self) -> str:
        """Bufferbloat grade; empty if unknown."""
        return "" if self.increase_s is None else bufferbloat_grade(max(self.increase_s, 0.0))


@dataclass
class Fitted:
    """A line as a scenario, with its known, guessed and unknown properties."""

    scenario: Scenario
    rtt_s: float
    ways: Mapping[Way, Direction]
    """The measured directions."""
    guessed: list[str] = field(default_factory=list)
    """Assumptions, one line each."""
    unknown: list[str] = field(default_factory=list)
    """Properties that the logs do not determine, one line each."""


def fit(measured: Measured, name: str = "line") -> Fitted:
    """Return the measured line as a scenario, with a download, an upload and a ping.

    Args:
        measured: Pings and rates, as `read` returns them.
        name: Name of the scenario.
    """
    base = base_of(measured)
    ways = {way: _direction(measured, way, base) for way in WAYS if way in measured.rates}
    only = next(iter(ways.values()))
    down, up = (ways.get(way, only) for way in WAYS)
    there, back = measured.echo if "up" in ways else measured.echo[::-1]
    sending_s = [size * 8 / of.rate_bps for size, of in ((there, up), (back, down)) if not of.is_least_rate]
    rtt_s = max(base.rtt_s - sum(sending_s), 1e-6)
    found = Fitted(_scenario(name, ways, rtt_s), rtt_s, ways)
    _say(found, measured, base)
    return found


def _direction(measured: Measured, way: Way, base: Base) -> Direction:
    rates = measured.rates[way]
    loaded = loaded_pings(measured, [rates])
    rtts_s = loaded.rtts_s
    rate = rate_bps(rates, full_s(rtts_s, base) if rtts_s.size else base.rtt_s)
    buffer = buffer_of(measured, way, base, rate)
    is_least_rate = not rtts_s.size or not wait_of(rtts_s, base).is_filled(rate)
    if measured.known and way in measured.known.values:
        rate, wait_s, stands_for = measured.known.values[way]
        buffer = Buffer(buffer.full_s, wait_s, "", is_least=wait_s is None, stands_for=stands_for)
    known = measured.one_clock and rtts_s.size > 0
    increase_s = float(rtts_s.mean()) - base.rtt_s if known and base.idle else None
    rpm = responsiveness(rtts_s.tolist()) if known else None
    return Direction(rate, is_least_rate, buffer, increase_s, rpm)


def _scenario(name: str, ways: Mapping[Way, Direction], rtt_s: float) -> Scenario:
    only = next(iter(ways.values()))
    down, up = ways.get("down", only), ways.get("up", only)
    return Scenario(
        name=name,
        duration="30 s",
        warmup="5 s",
        topology={"kind": "dumbbell", "bottleneck": _link(down, rtt_s), "reverse": _link(up, rtt_s)},
        flows=[
            {"name": "download", "cca": "cubic"},
            {"name": "upload", "cca": "cubic", "direction": "reverse"},
            {"name": "ping", "workload": {"kind": "ping", "interval": "200 ms"}, "direction": "reverse"},
        ],
    )


def _link(of: Direction, rtt_s: float) -> dict[str, Any]:
    link: dict[str, Any] = {"rate": f"{of.rate_bps:.0f} bit/s", "delay": f"{rtt_s / 2:.6g} s"}
    if of.buffer.stands_for:
        link["queue"] = {"kind": of.buffer.stands_for}
    elif of.buffer.wait_s is not None:
        size = max(of.buffer.wait_s * of.rate_bps / 8, _LEAST_QUEUE_BYTES)
        link["queue"] = {"kind": "drop_tail", "bytes": f"{size:.0f} B"}
    return link


def _say(found: Fitted, measured: Measured, base: Base) -> None:
    """Add the assumptions and the unknowns to a fit, in the order of the scenario's keys."""
    found.guessed += measured.told
    if measured.known:
        found.guessed += measured.known.guessed
        found.unknown += measured.known.unknown
    for way, of in found.ways.items() if measured.known is None else ():
        rate = f"{of.rate_bps / 1e6:.4g} Mbit/s with headers of {HEADERS_BYTES} B"
        level = "the level that the rates of streams reach"
        if of.is_least_rate:
            found.unknown.append(
                f"rate, {way}: at least {rate}, {level}; pings met no standing queue, so that the"
                " streams may never have filled the line"
            )
        else:
            found.guessed.append(
                f"rate, {way}: {rate}, {level}; too small if other traffic used the line all the time"
            )
        (found.unknown if of.buffer.is_least else found.guessed).append(f"buffer, {way}: {of.buffer.told}")
    if len(found.ways) == 1:
        other = "up" if "down" in found.ways else "down"
        found.unknown.append(
            f"rate and buffer, {other}: nothing was tested {other}; taken to equal the other direction. The"
            f" scenario loads both directions at the same time; without its {other}load it repeats the test"
        )
    rtt = f"RTT: {found.rtt_s * 1e3:.4g} ms"
    is_known = not any(of.is_least_rate for of in found.ways.values())
    ends = f"{'' if is_known else 'including serialisation; '}split evenly between both directions"
    if measured.least_rtt_s is not None:
        found.guessed.append(f"{rtt}, the RTT of the handshake or of the fastest segment; {ends}")
    elif base.idle:
        found.guessed.append(f"{rtt}, the RTT of {base.idle} pings of the idle line; {ends}")
    else:
        found.unknown.append(
            f"{rtt} at most: no ping is known to be of the idle line; begin pings 10 s before the load"
        )
    pings = measured.pings
    if pings.lost:
        sent = pings.lost + pings.rtts_s.size
        found.unknown.append(
            f"loss: {pings.lost:,} of {sent:,} pings had no reply: dropped by full buffers or at random"
        )
    found.unknown += [
        "random loss, reordering, changes of rate or route: such logs do not distinguish them from a full"
        " buffer",
        "simultaneous activity of the other direction, the server, and other flows on the line",
    ]
