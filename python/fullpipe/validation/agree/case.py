"""Cases of the agreement suite, and one function per regime that makes its cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullpipe.scenario import Scenario

DURATION_S, WARMUP_S = 25, 5
START_JITTER = "1 s"
"""Range of the start times of runs. Each run is one random draw, because it starts at a random phase of the
kernel's clock tick and of BBR's cycle. The runs of a case therefore start at several times within this range,
and these times are the same in every engine."""
STARTS = 5
"""Number of starts of cases with one flow, or with several flows behind a managed queue: the standard
deviation between starts is mostly below 0.5 % of the goodput, 2 % of the mean RTT and 5 % of the
retransmissions."""
CHANCE_STARTS = 20
"""Number of starts of cases with more variation between starts: random losses (10 % of the goodput or more);
competing flows, whose shares depend on which starts first (up to 45 % of the goodput); CDG, which backs off
at random (20 % of the retransmissions).
"""
_DICE = ("cdg",)
_DROPS_UNLESS_ASKED = ("codel", "pie", "fq_pie")
"""Queues that mark packets only if ECN is set."""


@dataclass(frozen=True)
class Case:
    """A scenario with its purpose and the number of seeds, that is, of starts."""

    name: str
    family: str
    scenario: Scenario
    seeds: int = STARTS


def dumbbell(rate_mbps: float, rtt_ms: float, queue: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A dumbbell whose bottleneck has the whole delay."""
    bottleneck = {"rate": f"{rate_mbps:g} Mbit/s", "delay": f"{rtt_ms / 2:g} ms", "queue": dict(queue)}
    return {"kind": "dumbbell", "bottleneck": bottleneck | more}


def drop_tail(bdp: float) -> dict[str, Any]:
    """A drop-tail queue; its size is in bandwidth-delay products."""
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
    """A case with `DURATION_S` and `WARMUP_S` unless `more` sets others. ns-3 runs the case only if ns-3 has
    its algorithms."""
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
    """One flow behind a drop-tail queue; `more` has further keys of the bottleneck."""
    name = f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-{bdp:g}bdp" + (f"-{label}" if label else "")
    topology = dumbbell(rate_mbps, rtt_ms, drop_tail(bdp), **more)
    chosen = seeds or (CHANCE_STARTS if cca in _DICE else STARTS)
    return case(name, family, topology, [{"cca": cca}], seeds=chosen)


def lossy(family: str, cca: str, rate_mbps: float, rtt_ms: float, percent: float) -> Case:
    """One flow behind a drop-tail queue of one bandwidth-delay product, with random loss of packets."""
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
    """Flows of several algorithms behind a managed queue; `ccas` has the number of flows per algorithm."""
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
    """Several flows behind one drop-tail queue; each part has an algorithm, a number of flows and an RTT in
    ms.
    """
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


Queue = Mapping[str, Any]
Paces = Sequence[tuple[float, str | None]]
"""Pairs of a start time in seconds and the rate at which the application writes from then on; None means no
limit."""


def starting(family: str, cca: str, count: int, rate_mbps: float, rtt_ms: float, queue: Queue) -> Case:
    """Several flows in a short run, most of which is slow start and its consequences."""
    name = f"start-{count}x{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-{_limit(queue)}"
    flows = [{"cca": cca, "count": count}]
    return case(name, family, dumbbell(rate_mbps, rtt_ms, queue), flows, duration="6 s", warmup="0 s")


def lasting(family: str, cca: str, rate_mbps: float, rtt_ms: float, queue: Queue, lasts_s: int) -> Case:
    """One flow in a run of unusual duration: shorter on a short path, longer on a slow link."""
    name = f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-{_limit(queue)}-{lasts_s}s"
    return case(name, family, dumbbell(rate_mbps, rtt_ms, queue), [{"cca": cca}], duration=f"{lasts_s} s")


def _limit(queue: Queue) -> str:
    return f"{queue['packets']}p" if "packets" in queue else str(queue["size"]).replace(" ", "")


def slow_acks(family: str, cca: str, rate_mbps: float, rtt_ms: float, up_kbps: int) -> Case:
    """One flow whose ACKs wait in their own queue of 50 packets."""
    queue = {"kind": "drop_tail", "packets": 50}
    back = {"rate": f"{up_kbps} kbit/s", "delay": f"{rtt_ms / 2:g} ms", "queue": queue}
    topology = {**dumbbell(rate_mbps, rtt_ms, drop_tail(1)), "reverse": back}
    return case(f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-acks-{up_kbps}k", family, topology, [{"cca": cca}])


def lost_acks(family: str, cca: str, rate_mbps: float, rtt_ms: float, percent: float) -> Case:
    """One flow with random loss of a percentage of its ACKs."""
    loss = {"kind": "bernoulli", "probability": percent / 100}
    topology = {
        **dumbbell(rate_mbps, rtt_ms, drop_tail(1)),
        "reverse": {"delay": f"{rtt_ms / 2:g} ms", "loss": loss},
    }
    name = f"{cca}-{rate_mbps:g}m-{rtt_ms:g}ms-ack-loss-{percent:g}pc"
    return case(name, family, topology, [{"cca": cca}], seeds=CHANCE_STARTS)


def opposed(family: str, there: str, back: str, rate_mbps: float, rtt_ms: float) -> Case:
    """Two flows in opposite directions, so that the data of each flow shares the queues with the ACKs of the
    other flow."""
    flows = [{"cca": there}, {"name": f"{back}-back", "cca": back, "direction": "reverse"}]
    name = f"{there}-against-{back}-{rate_mbps:g}m-{rtt_ms:g}ms"
    return case(name, family, dumbbell(rate_mbps, rtt_ms, drop_tail(1)), flows, seeds=CHANCE_STARTS)


def paced(family: str, label: str, cca: str, rate_mbps: float, rtt_ms: float, paces: Paces) -> Case:
    """One flow whose application writes data at the rates of `paces`."""
    told = [{"at": f"{at_s:g} s"} | ({} if rate is None else {"rate": rate}) for at_s, rate in paces]
    return _labelled(family, label, cca, rate_mbps, rtt_ms, {"application": told})


def working(
    family: str, label: str, cca: str, rate_mbps: float, rtt_ms: float, workload: Mapping[str, Any]
) -> Case:
    """One flow whose application is a workload."""
    return _labelled(family, label, cca, rate_mbps, rtt_ms, {"workload": dict(workload)})


def host(family: str, label: str, cca: str, rate_mbps: float, rtt_ms: float, **tcp: object) -> Case:
    """One flow between hosts with non-default settings."""
    return _labelled(family, label, cca, rate_mbps, rtt_ms, {}, tcp=tcp)


def _labelled(
    family: str, label: str, cca: str, rate_mbps: float, rtt_ms: float, flow: Mapping[str, Any], **more: Any
) -> Case:
    """One flow behind a drop-tail queue of one bandwidth-delay product."""
    name = f"{cca}-{label}-{rate_mbps:g}m-{rtt_ms:g}ms"
    topology = dumbbell(rate_mbps, rtt_ms, drop_tail(1))
    return case(name, family, topology, [{"cca": cca, **flow}], **more)


def bursts(*, count: int, every_s: float, size_bytes: int) -> Paces:
    """Bursts of `size_bytes` at 1 Gbit/s, one every `every_s` seconds from 2 s on; nothing is written between
    bursts."""
    lasts_s, starts = size_bytes * 8 / 1e9, [2 + every_s * n for n in range(count)]
    around = [pace for at_s in starts for pace in ((at_s, "1 Gbit/s"), (at_s + lasts_s, "0 bit/s"))]
    return [(0, "0 bit/s"), *around]


def short_flows(
    family: str, size: str, beside: str | None, rate_mbps: float, rtt_ms: float, *, cca: str = "cubic"
) -> Case:
    """A dozen short flows at different times, beside one long flow or alone."""
    several = {"name": "short", "cca": cca, "size": size, "count": 12, "start": "6 s", "start_jitter": "14 s"}
    long = [{"name": "long", "cca": beside}] if beside else []
    name = f"12x{cca}-{size.replace(' ', '')}-beside-{beside or 'none'}-{rate_mbps:g}m-{rtt_ms:g}ms"
    topology = dumbbell(rate_mbps, rtt_ms, drop_tail(1))
    return case(name, family, topology, [*long, several], seeds=CHANCE_STARTS)


def shaped(
    family: str, cca: str, kind: str, rate_mbps: int, burst_kb: int, rtt_ms: float, **more: int
) -> Case:
    """A policer or a token bucket behind access links of 100 Mbit/s. Without these links, packets of a burst
    would arrive at the same time."""
    queue = {"kind": kind, "rate_bps": rate_mbps * 1_000_000, "burst_bytes": burst_kb * 1000, **more}
    topology = {
        "kind": "dumbbell",
        "bottleneck": {"delay": f"{rtt_ms / 2:g} ms", "queue": queue},
        "reverse": {"delay": f"{rtt_ms / 2:g} ms"},
        "access": {"rate": "100 Mbit/s"},
    }
    return case(f"{cca}-{kind}-{rate_mbps}m-{burst_kb}kB-{rtt_ms:g}ms", family, topology, [{"cca": cca}])


def outage(family: str, cca: str, rate_mbps: float, rtt_ms: float, lasts_s: float) -> Case:
    """One flow during an outage: from 12 s on, no packet arrives for `lasts_s` seconds."""
    changes = [
        {"at": f"{at_s:g} s", "loss": {"kind": "bernoulli", "probability": share}}
        for at_s, share in ((12, 1.0), (12 + lasts_s, 0.0))
    ]
    return single(family, cca, rate_mbps, rtt_ms, 1, label=f"out-{lasts_s:g}s", changes=changes)


def lost_in_bursts(family: str, cca: str, rate_mbps: float, rtt_ms: float, worsens: float) -> Case:
    """One flow with burst loss: a bad state lasts five packets, of which half are lost."""
    loss = {"kind": "gilbert_elliott", "worsens": worsens, "improves": 0.2, "bad": 0.5}
    label = f"bad-times-{100 * worsens:g}pc"
    return single(family, cca, rate_mbps, rtt_ms, 1, seeds=CHANCE_STARTS, label=label, loss=loss)


def reordered(family: str, cca: str, rate_mbps: float, rtt_ms: float, spread_ms: float) -> Case:
    """One flow whose packets overtake each other by up to `spread_ms`."""
    jitter = {"spread": f"{spread_ms:g} ms", "reorder": True}
    label = f"reordered-{spread_ms:g}ms"
    return single(family, cca, rate_mbps, rtt_ms, 1, seeds=CHANCE_STARTS, label=label, jitter=jitter)
