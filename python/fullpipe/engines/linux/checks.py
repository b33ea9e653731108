"""Why a scenario cannot be run in the guest: all that a kernel, or the way we use it, cannot do exactly."""

from collections.abc import Iterator
from dataclasses import fields

from fullpipe.cca import classes
from fullpipe.engines.base import Problem
from fullpipe.engines.linux import names, qdiscs
from fullpipe.engines.linux.installation import Installed
from fullpipe.scenario import Link, Network, Route, Scenario
from fullpipe.scenario.changing import Wander
from fullpipe.scenario.losses import Periodic, Replay
from fullpipe.scenario.model import Model
from fullpipe.scenario.tcp import Tcp
from fullpipe.scenario.topology import Discipline, DropTail

NATIVE = "use --engine native"
_MOST_FLOWS = 2_000
_MOST_PACES = 64
_LEAST_PAYLOAD_BYTES = 8
_TCP = {
    *(
        "mss_bytes",
        "timestamps",
        "link_overhead_bytes",
        "ack_every",
        "delayed_ack_timeout_s",
        "pacing",
        "ecn",
    ),
    *("sack_compression", "initial_window", "send_buffer_bytes", "receive_buffer_bytes", "max_burst_bytes"),
    *("min_burst", "gro_s"),
}
_FLOW = {
    *("name", "cca", "count", "start_s", "start_jitter_s", "stop_s", "size_bytes", "application", "workload"),
    *("dscp", "hosts", "direction", "access", "source", "target", "via", "reroutes", "alternate", "tcp"),
}
_CHANGE = {"at_s", "rate_bps", "delay_s", "loss", "packets", "limit_bytes"}
_RECORD = {"interval_s", "variables", "packets"}
_LINK = {
    *("name", "rate_bps", "delay_s", "queue", "loss", "where", "changes", "batch_s", "detour", "jitter"),
    *("shapes", "trace", "steps"),
}
"""What this engine knows of a scenario, here or in what it writes for the guest. It refuses all else, so that
nothing new in scenarios is ever left out in silence."""


def problems(scenario: Scenario, network: Network, installed: Installed) -> Iterator[Problem]:
    """Every reason, with its place in the scenario."""
    if len(network.routes) > _MOST_FLOWS:
        yield Problem("flows", f"{len(network.routes)} are more than the guest's {_MOST_FLOWS:,}; {NATIVE}")
    if scenario.record.packets:
        yield Problem("record.packets", f"packets are not captured in the guest; leave it out, or {NATIVE}")
    if scenario.record.variables:
        text = "a kernel does not tell the variables of its algorithms; leave it out"
        yield Problem("record.variables", f"{text}, or {NATIVE}")
    yield from _unknown(scenario.record, _RECORD, "record")
    for number, flow in enumerate(scenario.flows):
        path = f"flows[{number}]"
        yield from _unknown(flow, _FLOW, path)
        if flow.datagrams and flow.datagrams.payload_bytes < _LEAST_PAYLOAD_BYTES:
            text = f"a datagram needs {_LEAST_PAYLOAD_BYTES} B of payload, in which the guest numbers it"
            yield Problem(f"{path}.workload.size", text)
        elif flow.workload and not flow.datagrams and flow.workload.kind != "bulk":
            yield Problem(f"{path}.workload", f"{flow.workload.kind} does not run in the guest; {NATIVE}")
        if not flow.cca:
            continue
        yield from _of_cca(f"{path}.cca", flow.cca.kind, dict(flow.cca.params), installed)
        if len(flow.application or ()) > _MOST_PACES:
            yield Problem(f"{path}.application", f"more than {_MOST_PACES} entries; {NATIVE}")
        where = f"{path}.tcp" if flow.tcp else "tcp"
        yield from _of_tcp(where, scenario.tcp_of(flow), flow.cca.kind, installed)
    for number, link in enumerate(network.links):
        yield from _of_link(number, link, network, installed)


def _of_cca(path: str, kind: str, params: dict[str, object], installed: Installed) -> Iterator[Problem]:
    if kind.startswith(classes.PREFIX):
        yield Problem(path, f"an algorithm in Python does not run in a kernel; {NATIVE}")
    elif names.in_kernel(kind, installed.ccas) is None:
        has = ", ".join(ours for ours in names.OURS if names.in_kernel(ours, installed.ccas))
        yield Problem(path, f"Linux {installed.release} has no {kind}; it has {has}{_other_kernel(kind)}")
    elif params:
        text = f"{', '.join(params)}: parameters cannot be set in the kernel; leave them out"
        yield Problem(f"{path}.params", f"{text}, or {NATIVE}")


def _other_kernel(kind: str) -> str:
    if kind not in names.OURS:
        return f"; {NATIVE}"
    return "; a kernel that has it is built by fullpipe engines install linux --source DIR"


def _unknown(model: Model, known: set[str], path: str) -> Iterator[Problem]:
    """What is set in a part of a scenario and not known to this engine."""
    for name, described in type(model).model_fields.items():
        if name not in known and getattr(model, name) != described.get_default(call_default_factory=True):
            yield Problem(f"{path}.{described.alias or name}", f"Linux has nothing like it; {NATIVE}")


def _of_tcp(path: str, tcp: Tcp, kind: str, installed: Installed) -> Iterator[Problem]:
    yield from _unknown(tcp, _TCP, path)
    if tcp.ack_every not in (None, 1):
        yield Problem(f"{path}.ack_every", f"Linux has its own delayed ACK, or 1; {NATIVE}")
    if tcp.send_buffer_bytes is not None:
        text = "Linux counts its own overhead in the send buffer, so a payload cannot be set"
        yield Problem(f"{path}.send_buffer", f"{text}; leave it out, or {NATIVE}")
    if tcp.gro_s is not None:
        yield Problem(f"{path}.gro", f"the guest's devices do not collect packets; {NATIVE}")
    if tcp.min_burst is not None and kind.startswith(("bbr", "prague")):
        yield Problem(f"{path}.min_burst", f"{kind} decides it itself in the kernel; leave it out")
    accurate = tcp.ecn == "accecn" or (tcp.ecn is True and kind == "prague")
    if accurate and not installed.accecn:
        yield Problem(f"{path}.ecn", f"Linux {installed.release} has no AccECN, which 7.0 has; {NATIVE}")


def _of_link(number: int, link: Link, network: Network, installed: Installed) -> Iterator[Problem]:
    where = link.where
    for part in fields(link):
        if part.name not in _LINK and getattr(link, part.name) != part.default:
            yield Problem(f"{where}.{part.name}", f"netem has nothing like it; {NATIVE}")
    for i, change in enumerate(link.changes):
        yield from _unknown(change, _CHANGE, f"{where}.changes[{i}]")
    for key, value in (("batch", link.batch_s), ("detour", link.detour)):
        if value is not None:
            yield Problem(f"{where}.{key}", f"netem has nothing like it; leave it out, or {NATIVE}")
    yield from _of_steps(where, link)
    if isinstance(link.queue, Discipline):
        yield from _of_queue(f"{where}.queue", link, link.queue, installed)
    crossing = [route for route in network.routes if number in {*route.forward, *route.reverse}]
    overheads = {route.tcp.link_overhead_bytes for route in crossing}
    if len(overheads) > 1:
        text = "flows on one link have different link_overhead; give them the same"
        yield Problem(where, f"{text}, or {NATIVE}")
    if isinstance(link.queue, Discipline) and _shares_by_host(link.queue) and _share_hosts(crossing):
        text = "cake shares by host, and in the guest every flow has hosts of its own"
        yield Problem(f"{where}.queue", f'{text}; use isolation = "flows", or {NATIVE}')


def _of_steps(where: str, link: Link) -> Iterator[Problem]:
    """What a link becomes in the course of a run, however that is written."""
    if any(isinstance(shape, Wander) for shape in link.shapes):
        yield Problem(f"{where}.shapes", f"wander is drawn in the simulator only; {NATIVE}")
    if link.trace is not None and link.trace.kind == "mahimahi":
        yield Problem(f"{where}.trace", f"no qdisc follows a packet-delivery trace; use a csv, or {NATIVE}")
    steps = [values for _, values in link.steps]
    if any(values.get("rate_bps") == 0 for values in steps):
        yield Problem(f"{where}.changes", f"no qdisc has a rate of 0; {NATIVE}")
    if any("limit" in values for values in steps) and not isinstance(link.queue, DropTail):
        yield Problem(f"{where}.changes", f"only the limit of drop_tail changes; {NATIVE}")
    later = [values["loss"]["kind"] for values in steps if "loss" in values]
    if isinstance(link.loss, Periodic | Replay) or set(later) - {"bernoulli", "gilbert_elliott"}:
        yield Problem(f"{where}.loss", f"netem loses at random only; use bernoulli, or {NATIVE}")


def _of_queue(path: str, link: Link, queue: Discipline, installed: Installed) -> Iterator[Problem]:
    if queue.kind not in qdiscs.MAKERS:
        yield Problem(path, f"{queue.kind} is not among the queues of this engine; {NATIVE}")
        return
    if queue.kind not in installed.qdiscs:
        text = f"Linux {installed.release} has no {queue.kind}"
        yield Problem(path, f"{text}; another kernel may: fullpipe engines install linux --version 7.2")
    if queue.kind == "dualpi2" and float(queue.params.get("coupling_factor", 2.0)) % 1:
        yield Problem(f"{path}.coupling_factor", "the kernel takes whole numbers; use 2.0")
    if queue.rate_bps is not None and link.rate_bps is not None:
        text = f"{queue.kind} shapes, so the link is best left without a rate of its own"
        yield Problem(path, f"{text}; leave out rate, or {NATIVE}")
    changes_rate = any("rate_bps" in values for _, values in link.steps)
    if changes_rate and link.rate_bps is None and queue.kind != "tbf":
        yield Problem(f"{link.where}.changes", f"the rate of {queue.kind} cannot change; give the link one")


def _shares_by_host(queue: Discipline) -> bool:
    return queue.kind == "cake" and queue.params.get("isolation") not in ("flows", "flowblind")


def _share_hosts(crossing: list[Route]) -> bool:
    hosts = [host for route in crossing for host in (route.hosts or ())]
    return len(set(hosts)) < len(hosts)
