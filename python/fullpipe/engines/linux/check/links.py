"""Checks of links: properties that the kernel, as used here, cannot reproduce exactly."""

from collections.abc import Iterator, Sequence

from fullpipe.engines.base import Problem
from fullpipe.engines.lacks import NATIVE
from fullpipe.engines.linux.check.capabilities import LOSSES
from fullpipe.engines.linux.check.unsupported import unknown
from fullpipe.engines.linux.layout.sizes import mtu_bytes
from fullpipe.engines.linux.tc import filters, queues, red
from fullpipe.engines.linux.tc.qdisc import MOST_U32
from fullpipe.scenario import Link, RoutedFlow
from fullpipe.scenario.model.link.changes import MarkovChannel
from fullpipe.scenario.model.link.losses import Loss
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.quantities import BITS

_CHANGE = {"at_s", "rate_bps", "delay_s", "loss", "packets", "limit_bytes"}


def problems(link: Link, crossed_by: Sequence[RoutedFlow]) -> Iterator[Problem]:
    """Return all reasons why a link cannot be run, with their places in the scenario.

    Features that the guest lacks altogether are refused before (`lacking`).
    """
    where = link.where
    if link.nic_of is not None:
        yield from _of_nic(where, crossed_by)
    if link.frames is not None:
        yield Problem(f"{where}.frames", f"netem has nothing like it; {NATIVE}")
    if link.device_packets is not None:
        text = "the guest's links have no device below the qdisc whose queue stops it"
        yield Problem(f"{where}.device_queue", f"{text}; {NATIVE}")
    for i, change in enumerate(link.changes):
        yield from unknown(change, _CHANGE, f"{where}.changes[{i}]")
    yield from _of_steps(where, link)
    if isinstance(link.queue, Discipline) and link.queue.kind in queues.MAKERS:
        yield from _of_queue(f"{where}.queue", link, link.queue)
    overheads = {routed.tcp.link_overhead_bytes for routed in crossed_by}
    if len(overheads) > 1:
        text = "flows on one link have different link_overhead; give them the same"
        yield Problem(where, f"{text}, or {NATIVE}")
    if isinstance(link.queue, Discipline) and _shares_by_host(link.queue) and _share_hosts(crossed_by):
        text = "cake shares by host, and in the guest every flow has hosts of its own"
        yield Problem(f"{where}.queue", f'{text}; use isolation = "flows", or {NATIVE}')


def _of_nic(where: str, crossed_by: Sequence[RoutedFlow]) -> Iterator[Problem]:
    """Check flows of a host with a NIC. It is one namespace with one set of TCP options and one MTU."""
    connections = [routed for routed in crossed_by if not routed.flow.datagrams]
    if any(routed.tcp != connections[0].tcp for routed in connections):
        yield Problem(where, f"flows of one host have different tcp; give them the same, or {NATIVE}")
    mtus = [mtu_bytes(routed) for routed in connections]
    if mtus and max(map(mtu_bytes, crossed_by)) > max(mtus):
        yield Problem(where, f"datagrams are larger than packets of TCP; send smaller ones, or {NATIVE}")
    if any(routed.tcp.pacing == "fq" for routed in connections):
        text = "the interface has its own queue; leave out pacing"
        yield Problem(where, f'{text}, and give it queue = {{ kind = "fq" }}')


def _of_steps(where: str, link: Link) -> Iterator[Problem]:
    """Check changes of a link during the run: `changes`, `shapes` and `trace`."""
    if any(isinstance(shape, MarkovChannel) for shape in link.shapes):
        yield Problem(
            f"{where}.shapes", f"a Markov channel (wander) is drawn in the simulator only; {NATIVE}"
        )
    if link.trace is not None and link.trace.kind == "mahimahi":
        yield Problem(f"{where}.trace", f"no qdisc replays a packet-delivery trace; use a csv, or {NATIVE}")
    steps = [values for _, values in link.steps]
    if any(values.get("rate_bps") == 0 for values in steps):
        yield Problem(f"{where}.changes", f"no qdisc has a rate of 0; {NATIVE}")
    if any("limit" in values for values in steps) and not isinstance(link.queue, DropTail):
        yield Problem(f"{where}.changes", f"only the limit of drop_tail changes; {NATIVE}")
    later = [values["loss"]["kind"] for values in steps if "loss" in values]
    if set(later) - LOSSES:
        yield Problem(f"{where}.loss", f"later losses are random in the kernel; use bernoulli, or {NATIVE}")
    if link.loss and link.loss.kind == "periodic":
        yield from _of_periodic(f"{where}.loss", link.loss, changes=bool(later))
    if link.impairments.duplicate and (link.loss or later):
        yield Problem(f"{where}.duplicate", f"netem loses a copy independently of its packet; {NATIVE}")


def _of_periodic(path: str, loss: Loss, *, changes: bool) -> Iterator[Problem]:
    if loss.every > filters.MOST_EVERY:
        yield Problem(f"{path}.every", f"the kernel counts to {filters.MOST_EVERY:,}; {NATIVE}")
    if changes:
        yield Problem(path, f"periodic loss stays as it is in the kernel; leave out later ones, or {NATIVE}")


def _of_queue(path: str, link: Link, queue: Discipline) -> Iterator[Problem]:
    yield from _of_parameters(path, queue.kind, queues.all_params(queue.kind, queue.params))
    if queue.rate_bps is not None and link.rate_bps is not None and queue.kind != "police":
        text = f"{queue.kind} is a shaper, so the link needs no rate of its own"
        yield Problem(path, f"{text}; leave out rate, or {NATIVE}")
    changes_rate = any("rate_bps" in values for _, values in link.steps)
    if changes_rate and link.rate_bps is None and queue.kind != "tbf":
        yield Problem(f"{link.where}.changes", f"the rate of {queue.kind} cannot change; give the link one")


def _of_parameters(path: str, kind: str, params: queues.Params) -> Iterator[Problem]:
    """Check parameters of queues that the kernel does not accept exactly."""
    if kind == "dualpi2" and float(params["coupling_factor"]) % 1:
        yield Problem(f"{path}.coupling_factor", "the kernel takes whole numbers; use 2.0")
    if kind == "step" and params["mark_packets"] is not None:
        yield Problem(f"{path}.mark_packets", f"no qdisc counts packets on arrival; use mark_ms, or {NATIVE}")
    elif kind == "step" and params["mark_ms"] is None:
        yield Problem(path, f"no qdisc counts packets on arrival; set mark_ms, or {NATIVE}")
    if kind == "red" and not red.thresholds(params).fit:
        text = "the thresholds and the burst do not fit into the kernel's 32 bits"
        yield Problem(path, f"{text}; use smaller ones, or {NATIVE}")
    if kind == "police" and not filters.holds(params):
        yield Problem(f"{path}.burst_bytes", "the kernel's bucket fills in at most 274 s; use a smaller one")
    if kind == "fq" and (params["maxrate_bps"] or 0) // BITS >= MOST_U32:
        yield Problem(f"{path}.maxrate_bps", "the maximum is 34 Gbit/s; leave it out for no limit")


def _shares_by_host(queue: Discipline) -> bool:
    return queue.kind == "cake" and queue.params.get("isolation") not in ("flows", "flowblind")


def _share_hosts(crossed_by: Sequence[RoutedFlow]) -> bool:
    hosts = [host for routed in crossed_by for host in (routed.hosts or ())]
    return len(set(hosts)) < len(hosts)
