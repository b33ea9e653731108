"""Checks whether the installed kernel can run a scenario exactly, and lists the reasons if it cannot."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from fullpipe.engines.base import Capabilities, Problem, not_measured
from fullpipe.engines.lacks import DROP_TAIL, NATIVE, lacking, only_native, with_ignored
from fullpipe.engines.linux.departures import MOST_PACES, crossing, has_accecn, mtu_bytes, paces, routes_of
from fullpipe.engines.linux.install.installed import INSTALL, OURS, PERIODIC, Installed, in_kernel
from fullpipe.engines.linux.script import POINTS
from fullpipe.engines.linux.tc import qdisc
from fullpipe.engines.linux.tc.jitter import LONGEST_NS, jitter_of
from fullpipe.engines.linux.tc.qdisc import MOST_U32
from fullpipe.scenario import Link, Network, RoutedFlow, Scenario
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.link.changes import MarkovChannel
from fullpipe.scenario.model.link.impairments import given
from fullpipe.scenario.model.link.losses import Loss
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.model.workloads.writers import Cbr, OnOff
from fullpipe.scenario.quantities import BITS, to_nanoseconds

# Refuses keys that a scenario sets and this engine does not support.


def unknown(model: Model, known: Collection[str], path: str) -> Iterator[Problem]:
    """Yield a problem for every key that a part of a scenario sets and this engine lacks."""
    for name, described in type(model).model_fields.items():
        if name not in known and getattr(model, name) != described.get_default(call_default_factory=True):
            yield Problem(f"{path}.{described.alias or name}", f"Linux has no such option; {NATIVE}")


# Algorithms, queues and loss models that a kernel supports, and what to do if a kernel lacks one of them.


LOSSES = frozenset({"bernoulli", "gilbert_elliott"})
"""Losses that netem supports."""
JITTERS = ("jitter", "wifi_jitter", "recorded_jitter")
"""Impairments that become the jitter of a netem, which has only one distribution."""
_NEWER = frozenset({*qdisc.MAKERS, PERIODIC})
"""Features that older kernels lack. A kernel that an older version of Fullpipe installed does not list
periodic loss."""


def capabilities(installed: Installed) -> Capabilities:
    """Return the capabilities of the engine with the given kernel."""
    from fullpipe.engines.linux import tables  # imported only here: listing engines needs no tables

    return Capabilities(
        ccas=frozenset(ours for ours in OURS if in_kernel(ours, installed.ccas)),
        queues=frozenset(("drop_tail", *(kind for kind in qdisc.MAKERS if kind in installed.qdiscs))),
        losses=LOSSES | ({PERIODIC} if PERIODIC in installed.qdiscs else set()),
        impairments=frozenset({*JITTERS, "duplicate"}),
        workloads=frozenset({"bulk", "cbr", "on_off", "udp", "voip", "ping", "probe"}),
        not_measured=not_measured(tables.MEASURED),
    )


def remedy(family: str, name: str) -> str:
    """Return what to do if a kernel lacks the algorithm, queue or loss model `name` of a registry."""
    if family == "ccas" and name in OURS:
        return "build a kernel that has this algorithm: fullpipe engines install linux --source DIR"
    return f"build the newest: {INSTALL}" if name in _NEWER else NATIVE


# Checks of applications. The guest's application writes whole segments, at the rates that the guest's script
# sets.


def _application_problems(path: str, flow: Flow, scenario: Scenario) -> Iterator[Problem]:
    """Yield every reason why the guest cannot run a flow's application, with the key in the scenario."""
    tcp, workload = scenario.tcp_of(flow), flow.workload
    if isinstance(workload, Cbr | OnOff) and workload.write_bytes not in (None, tcp.mss_bytes):
        text = "the guest's application writes segment by segment; leave this key out"
        yield Problem(f"{path}.workload.write", f"{text}, or {NATIVE}")
    if isinstance(workload, OnOff) and workload.periods == "exponential":
        text = "the guest's application has constant periods"
        yield Problem(f"{path}.workload.periods", f"{text}; leave this key out, or {NATIVE}")
        return
    start_ns, end_ns = to_nanoseconds(flow.start_s), to_nanoseconds(scenario.duration_s)
    changes = len(paces(flow, tcp, start_ns, end_ns))
    if changes > MOST_PACES:
        where = f"{path}.application" if flow.application else f"{path}.workload"
        text = f"{changes} changes of pace exceed the guest's maximum of {MOST_PACES}"
        yield Problem(where, f"{text}; shorten the flow, or {NATIVE}")


# Checks of links: refuses properties of links that the guest's kernel cannot reproduce exactly.


_CHANGE = {"at_s", "rate_bps", "delay_s", "loss", "packets", "limit_bytes"}


def _link_problems(link: Link, crossed_by: Sequence[RoutedFlow]) -> Iterator[Problem]:
    """Yield every reason why the guest cannot reproduce a link, with the key in the scenario.

    `lacking` has already refused queues, loss models and impairments that the kernel lacks.
    """
    where = link.where
    if link.nic_of is not None:
        yield from _of_nic(where, crossed_by)
    if link.frames is not None:
        yield Problem(f"{where}.frames", f"netem does not group packets into frames; {NATIVE}")
    if link.device_packets is not None:
        text = "the guest's devices have no transmit queue below the qdisc"
        yield Problem(f"{where}.device_queue", f"{text}; {NATIVE}")
    for i, change in enumerate(link.changes):
        yield from unknown(change, _CHANGE, f"{where}.changes[{i}]")
    yield from _of_steps(where, link)
    if isinstance(link.queue, DropTail):
        yield from unknown(link.queue, DROP_TAIL, f"{where}.queue")
    if isinstance(link.queue, Discipline) and link.queue.kind in qdisc.MAKERS:
        yield from _of_queue(f"{where}.queue", link, link.queue)
    overheads = {routed.tcp.link_overhead_bytes for routed in crossed_by}
    if len(overheads) > 1:
        text = "flows on one link have different link_overhead; give all of them the same value"
        yield Problem(where, f"{text}, or {NATIVE}")
    if isinstance(link.queue, Discipline) and _shares_by_host(link.queue) and _share_hosts(crossed_by):
        text = "cake divides the rate among hosts, but in the guest every flow has its own hosts"
        yield Problem(f"{where}.queue", f'{text}; use isolation = "flows", or {NATIVE}')


def _of_nic(where: str, crossed_by: Sequence[RoutedFlow]) -> Iterator[Problem]:
    """Check flows of a host with a NIC. All flows of the host share one namespace, its TCP options and its
    MTU."""
    connections = [routed for routed in crossed_by if not routed.flow.datagrams]
    if any(routed.tcp != connections[0].tcp for routed in connections):
        yield Problem(where, f"flows of one host have different tcp; give all the same tcp, or {NATIVE}")
    mtus = [mtu_bytes(routed) for routed in connections]
    if mtus and max(map(mtu_bytes, crossed_by)) > max(mtus):
        yield Problem(where, f"datagrams are larger than TCP packets; send smaller datagrams, or {NATIVE}")
    if any(routed.tcp.pacing == "fq" for routed in connections):
        text = "the nic has its own queue; leave out pacing"
        yield Problem(where, f'{text}, and give the nic queue = {{ kind = "fq" }}')


def _of_steps(where: str, link: Link) -> Iterator[Problem]:
    """Check changes of a link during the run: `changes`, `shapes` and `trace`."""
    if any(isinstance(shape, MarkovChannel) for shape in link.shapes):
        yield Problem(f"{where}.shapes", f"only the simulator supports a Markov channel (wander); {NATIVE}")
    if link.trace is not None and link.trace.kind == "mahimahi":
        yield Problem(f"{where}.trace", f"no qdisc replays a packet-delivery trace; use a csv, or {NATIVE}")
    steps = [values for _, values in link.steps]
    policed = isinstance(link.queue, Discipline) and link.queue.kind == "police"
    if policed and any(values.get("rate_bps") == 0 for values in steps):
        yield Problem(f"{where}.changes", f"in the guest, a link with a policer has no outages; {NATIVE}")
    if any("limit" in values for values in steps) and not isinstance(link.queue, DropTail):
        yield Problem(f"{where}.changes", f"only the limit of a drop_tail queue can change; {NATIVE}")
    later = [values["loss"]["kind"] for values in steps if "loss" in values]
    if set(later) - LOSSES:
        text = "during a run, the kernel can change only to random loss; use bernoulli"
        yield Problem(f"{where}.loss", f"{text}, or {NATIVE}")
    if link.loss and link.loss.kind == "periodic":
        yield from _of_periodic(f"{where}.loss", link.loss, changes=bool(later))
    yield from _of_jitter(where, link)
    if link.impairments.duplicate and (link.loss or later):
        yield Problem(f"{where}.duplicate", f"netem loses a copy independently of its packet; {NATIVE}")


def _of_jitter(where: str, link: Link) -> Iterator[Problem]:
    named = [one.name for one in given(link.impairments) if one.name in JITTERS]
    if not named:
        return
    if len(named) > 1:
        text = "a netem has one distribution of delays"
        yield Problem(f"{where}.{named[1]}", f"{text}; leave out {named[0]}, or {NATIVE}")
        return
    jitter = jitter_of(link.impairments)
    if jitter is not None and jitter.spread_ns > LONGEST_NS:
        text = "delays exceed the maximum of netem"
        yield Problem(f"{where}.{named[0]}", f"{text}; use smaller delays, or {NATIVE}")


def _of_periodic(path: str, loss: Loss, *, changes: bool) -> Iterator[Problem]:
    if loss.every > qdisc.MOST_EVERY:
        text = f"the maximum in the kernel is {qdisc.MOST_EVERY:,}; use a smaller value"
        yield Problem(f"{path}.every", f"{text}, or {NATIVE}")
    if changes:
        text = "the kernel cannot change periodic loss during a run"
        yield Problem(path, f"{text}; leave out the changes, or {NATIVE}")


def _of_queue(path: str, link: Link, queue: Discipline) -> Iterator[Problem]:
    params = qdisc.all_params(queue.kind, queue.params)
    unfit = list(_of_parameters(path, queue.kind, params))
    yield from unfit or _of_ignored(path, queue.kind, params)
    if queue.rate_bps is not None and link.rate_bps is not None and queue.kind != "police":
        text = f"{queue.kind} itself limits the rate, so the link needs no rate"
        yield Problem(path, f"{text}; leave out the rate of the link, or {NATIVE}")
    changes_rate = any("rate_bps" in values for _, values in link.steps)
    if changes_rate and link.rate_bps is None and queue.kind != "tbf":
        yield Problem(
            f"{link.where}.changes", f"the rate of {queue.kind} cannot change; give the link a rate instead"
        )


def _of_parameters(path: str, kind: str, params: qdisc.Params) -> Iterator[Problem]:
    """Refuse values of queue parameters that the kernel's qdisc cannot represent exactly."""
    if kind == "dualpi2" and float(params["coupling_factor"]) % 1:
        yield Problem(f"{path}.coupling_factor", "the kernel takes whole numbers; use 2.0")
    if kind == "step" and params["mark_packets"] is not None:
        yield Problem(f"{path}.mark_packets", f"no qdisc counts packets on arrival; use mark_ms, or {NATIVE}")
    elif kind == "step" and params["mark_ms"] is None:
        yield Problem(path, f"no qdisc counts packets on arrival; set mark_ms, or {NATIVE}")
    if kind == "red" and not qdisc.thresholds(params).fit:
        text = "the thresholds and the burst do not fit into the kernel's 32 bits"
        yield Problem(path, f"{text}; use smaller values, or {NATIVE}")
    if kind == "police" and not qdisc.holds(params):
        yield Problem(f"{path}.burst_bytes", "in Linux, a bucket fills in at most 274 s; use a smaller burst")
    if kind == "fq" and (params["maxrate_bps"] or 0) // BITS >= MOST_U32:
        yield Problem(f"{path}.maxrate_bps", "the maximum is 34 Gbit/s; leave this key out for no limit")


NOT_OF_QDISC: Mapping[str, frozenset[str]] = {
    "tbf": frozenset({"packets", "limit_bytes"}),  # of the drop-tail queue below the bucket (`link.py`)
    "police": frozenset({"rate_bps", "burst_bytes"}),  # of the filter (`policer`)
    "red": frozenset({"bandwidth_mbps"}),  # for idle times, which RED never detects (`qdisc.red`)
    "step": frozenset({"mark_packets"}),  # refused by `_of_parameters`
}
"""Parameters, by kind of queue, that are not options of the queue's qdisc: another object uses the parameter,
the parameter has no effect, or the engine refuses it."""


def _of_ignored(path: str, kind: str, params: qdisc.Params) -> Iterator[Problem]:
    """Refuse parameters that no qdisc would get, such as a new parameter of the registry."""
    _, ignored = with_ignored(qdisc.MAKERS[kind], params, qdisc.defaults_of(kind))
    for key in ignored:
        if key not in NOT_OF_QDISC.get(kind, ()):
            text = f"{kind} of Linux has no such parameter; leave it out"
            yield Problem(f"{path}.{key}", f"{text}, or {NATIVE}")


def _shares_by_host(queue: Discipline) -> bool:
    return queue.kind == "cake" and queue.params.get("isolation") not in ("flows", "flowblind")


def _share_hosts(crossed_by: Sequence[RoutedFlow]) -> bool:
    hosts = [host for routed in crossed_by for host in (routed.hosts or ())]
    return len(set(hosts)) < len(hosts)


# Checks of whole scenarios: refuses settings that the guest's kernel cannot reproduce exactly.


_MOST_FLOWS = 2_000
_TICK_S = 0.001
"""Tick of the guest's clock (`CONFIG_HZ` in install/kernel.config)."""
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
    *("host", "send_memory_bytes", "send_memory_most_bytes"),
    *("receive_memory_bytes", "receive_memory_most_bytes"),
    *("min_burst", "gro_s", "accecn_option", "loss_detection", "min_rto_s", "tail_loss_probe"),
    "timer_tick_s",
}
_FLOW = {
    *("name", "cca", "count", "start_s", "start_jitter_s", "stop_s", "size_bytes", "application", "workload"),
    *("dscp", "hosts", "direction", "access", "source", "target", "via", "reroutes", "alternate", "tcp"),
}
_RECORD = {"interval_s", "variables", "packets"}
"""`_TCP`, `_FLOW` and `_RECORD` are the keys that this engine supports in `tcp`, `flows` and `record`. The
engine refuses all other keys, so that it never ignores a new key silently."""


def problems(scenario: Scenario, network: Network, installed: Installed) -> Iterator[Problem]:
    """Yield every reason why the guest cannot run a scenario, with the key in the scenario."""
    yield from lacking(scenario, network, capabilities(installed), f"Linux {installed.release}", remedy)
    yield from only_native(network, "Linux")
    if len(network.flows) > _MOST_FLOWS:
        text = f"{len(network.flows)} flows exceed the guest's maximum of {_MOST_FLOWS:,}"
        yield Problem("flows", f"{text}; {NATIVE}")
    yield from _of_capture(scenario, network)
    if scenario.record.variables:
        text = "the kernel does not report variables of its algorithms; leave this key out"
        yield Problem("record.variables", f"{text}, or {NATIVE}")
    yield from unknown(scenario.record, _RECORD, "record")
    for number, flow in enumerate(scenario.flows):
        path = f"flows[{number}]"
        yield from unknown(flow, _FLOW, path)
        if flow.datagrams and flow.datagrams.payload_bytes < _LEAST_PAYLOAD_BYTES:
            text = f"in the guest, a datagram needs {_LEAST_PAYLOAD_BYTES} B of payload for its number"
            yield Problem(f"{path}.workload.size", text)
        if not flow.cca:
            continue
        if flow.cca.params:
            text = f"{', '.join(flow.cca.params)}: the kernel cannot set parameters; leave the parameters out"
            yield Problem(f"{path}.cca.params", f"{text}, or {NATIVE}")
        where = f"{path}.tcp" if flow.tcp else "tcp"
        yield from _of_tcp(where, scenario.tcp_of(flow), flow.cca.kind, installed)
        yield from _application_problems(path, flow, scenario)
    for link, crossed_by in zip(network.links, crossing(network), strict=True):
        yield from _link_problems(link, crossed_by)
    for routed in network.flows if not network.media else ():
        yield from _of_routes(routed, network)


def _of_capture(scenario: Scenario, network: Network) -> Iterator[Problem]:
    for i, point in enumerate(scenario.record.packets or ()):
        if point not in POINTS:
            text = "the guest captures packets at hosts only; use sender and receiver"
            yield Problem(f"record.packets[{i}]", f"{text}, or {NATIVE}")
    if scenario.record.packets and any(link.nic_of is not None for link in network.links):
        text = "at a host with a nic, the guest captures packets only after the queue of the nic"
        yield Problem("record.packets", f"{text}; leave out the host's nic, or {NATIVE}")


def _of_routes(routed: RoutedFlow, network: Network) -> Iterator[Problem]:
    """Check that no route of a flow passes a node twice. A namespace has only one route to an address."""
    for to_receiver in (True, False):
        for route in routes_of(routed, to_receiver=to_receiver):
            nodes = [network.links[route[0]].source, *(network.links[link].target for link in route)]
            twice = next((node for n, node in enumerate(nodes) if node in nodes[:n]), None)
            if twice is not None:
                text = f"a route of {routed.name} passes {twice} twice, which the guest cannot do"
                yield Problem("flows", f"{text}; {NATIVE}")


def _of_tcp(path: str, tcp: Tcp, kind: str, installed: Installed) -> Iterator[Problem]:
    yield from unknown(tcp, _TCP, path)
    if tcp.ack_every not in (None, 1):
        yield Problem(f"{path}.ack_every", f"Linux has only its own delayed ACKs or ack_every = 1; {NATIVE}")
    if tcp.send_buffer_bytes is not None:
        text = "Linux includes its own overhead in the send buffer, so the payload in it cannot be set"
        yield Problem(f"{path}.send_buffer", f"{text}; leave this key out, or {NATIVE}")
    if tcp.loss_detection == "dupack":
        yield Problem(f"{path}.loss_detection", f"Linux has no detection by dupacks since 6.17; {NATIVE}")
    if tcp.timer_tick_s not in (None, _TICK_S):
        yield Problem(f"{path}.timer_tick", f'the guest\'s clock ticks every 1 ms; write "1 ms", or {NATIVE}')
    if tcp.gro_s is not None:
        yield Problem(f"{path}.gro", f"the guest's devices do not merge packets (GRO); {NATIVE}")
    if tcp.min_burst is not None and kind.startswith(("bbr", "prague")):
        yield Problem(f"{path}.min_burst", f"{kind} sets this value itself in the kernel; leave this key out")
    if has_accecn(tcp, kind) and not installed.accecn:
        text = f"Linux {installed.release} lacks AccECN; install Linux 7.0"
        yield Problem(f"{path}.ecn", f"{text}, or {NATIVE}")
