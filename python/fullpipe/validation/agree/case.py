"""A case of the agreement suite, and the small functions that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullpipe.scenario import Scenario

DURATION_S, WARMUP_S = 25, 5
START_JITTER = "1 s"
"""One run is one draw: it begins at some phase of the kernel's clock tick, and BBR at some phase of its own.
So the runs of a case begin at several moments within a second, the same in every engine."""
STARTS = 5
"""Starts of one flow, or of several behind a managed queue: the standard deviation between starts is mostly
below 0.5 % of the goodput, 2 % of the mean RTT and 5 % of the retransmissions."""
CHANCE_STARTS = 20
"""Where more is left to chance: random losses, 10 % of a run's goodput or more; flows that meet, of which
who came first keeps more, up to 45 % of the goodput; CDG, which draws when it backs off, 20 % of the
retransmissions."""
_DICE = ("cdg",)
_DROPS_UNLESS_ASKED = ("codel", "pie", "fq_pie")
"""Queues that mark only if they are told to."""


@dataclass(frozen=True)
class Case:
    """A scenario with what it is to show and how many seeds, which are starts, it needs."""

    name: str
    family: str
    scenario: Scenario
    seeds: int = STARTS


def dumbbell(rate_mbps: float, rtt_ms: float, queue: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A dumbbell whose whole delay lies in the bottleneck."""
    bottleneck = {"rate": f"{rate_mbps:g} Mbit/s", "delay": f"{rtt_ms / 2:g} ms", "queue": dict(queue)}
    return {"kind": "dumbbell", "bottleneck": bottleneck | more}


def drop_tail(bdp: float) -> dict[str, Any]:
    """A drop-tail queue of so many bandwidth-delay products."""
    return {"kind": "drop_tail", "size": f"{bdp:g} bdp"}


def case(
    name: str,
    family: str,
    topology: Mapping[str, Any],
    flows: Sequence[Mapping[str, Any]],
    *,
    seeds: int = STARTS,
    **more: Any,
) -> Case:
    """A case; it lasts as long as most unless told. In ns-3 it runs ns-3's own algorithms or not at all."""
    lasts = {"duration": f"{DURATION_S} s", "warmup": f"{WARMUP_S} s"}
    scenario = Scenario(
        name=name,
        topology=dict(topology),
        flows=[{"start_jitter": START_JITTER, **flow} for flow in flows],
        ns3={"algorithms": "ns3-only"},
        **(lasts | more),
    )
    return Case(name, family, scenario, seeds)


def single(
    family: str,
    cca: str,
    rate_mbps: float,
    rtt_ms: float,
    bdp: float,
    *,
    seeds: int | None = None,
    label: str = "",
    **more: Any,
) -> Case:
    """One flow behind a drop-tail queue; `more` is of the bottleneck."""
    name = f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-{bdp:g}bdp" + (f"-{label}" if label else "")
    topology = dumbbell(rate_mbps, rtt_ms, drop_tail(bdp), **more)
    chosen = seeds or (CHANCE_STARTS if cca in _DICE else STARTS)
    return case(name, family, topology, [{"cca": cca}], seeds=chosen)


def lossy(family: str, cca: str, rate_mbps: float, rtt_ms: float, percent: float) -> Case:
    """One flow behind a drop-tail queue of a bandwidth-delay product, and packets are lost at random."""
    loss = {"kind": "bernoulli", "probability": percent / 100}
    return single(
        family, cca, rate_mbps, rtt_ms, 1, seeds=CHANCE_STARTS, label=f"loss-{percent:g}pc", loss=loss
    )


def managed(
    family: str,
    kind: str,
    ccas: Mapping[str, int],
    rate_mbps: float,
    rtt_ms: float,
    *,
    ecn: bool = False,
) -> Case:
    """Flows, of each algorithm so many, behind a queue that is managed."""
    flows = [{"cca": cca, "count": count} for cca, count in ccas.items()]
    words = "+".join(f"{count}x{cca}" for cca, count in ccas.items())
    name = f"{kind}-{words}-{rate_mbps:g}m-{rtt_ms:g}ms" + ("-ecn" if ecn else "")
    queue = {"kind": kind, **({"ecn": True} if ecn and kind in _DROPS_UNLESS_ASKED else {})}
    topology = dumbbell(rate_mbps, rtt_ms, queue)
    more: dict[str, Any] = {"tcp": {"ecn": True}} if ecn else {}
    return case(name, family, topology, flows, **more)


def step(
    family: str, cca: str, label: str, rate_mbps: float, rtt_ms: float, bdp: float, **change: str
) -> Case:
    """One flow on a path that changes at 12 s."""
    return single(family, cca, rate_mbps, rtt_ms, bdp, label=label, changes=[{"at": "12 s", **change}])


def mix(
    family: str,
    parts: Sequence[tuple[str, int, float]],
    rate_mbps: float,
    bdp: float,
) -> Case:
    """Several flows, each part of an algorithm, a number and an RTT in ms, behind one drop-tail queue."""
    shortest = min(rtt_ms for _, _, rtt_ms in parts)
    flows = []
    for cca, count, rtt_ms in parts:
        flow: dict[str, Any] = {"cca": cca, "count": count}
        if rtt_ms > shortest:
            flow["access"] = {"delay": f"{(rtt_ms - shortest) / 2:g} ms"}
        flows.append(flow)
    words = [f"{count}x{cca}-{rtt_ms:g}ms" for cca, count, rtt_ms in parts]
    name = f"{'+'.join(words)}-{rate_mbps:g}m-{bdp:g}bdp"
    return case(name, family, dumbbell(rate_mbps, shortest, drop_tail(bdp)), flows, seeds=CHANCE_STARTS)


def transfer(family: str, cca: str, size: str, rate_mbps: float, rtt_ms: float, bdp: float) -> Case:
    """One transfer of a given size, measured from its start."""
    name = f"{cca}-{size.replace(' ', '')}-{rate_mbps:g}m-{rtt_ms:g}ms-{bdp:g}bdp"
    topology = dumbbell(rate_mbps, rtt_ms, drop_tail(bdp))
    made = case(name, family, topology, [{"cca": cca, "size": size}])
    return Case(name, family, made.scenario.with_values({"warmup": "0 s", "record.interval": "10 ms"}))
