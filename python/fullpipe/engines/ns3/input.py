"""Input of the ns-3 program, and checks for features that the program lacks."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fullpipe.algorithms import own
from fullpipe.engines.base import Capabilities, Problem
from fullpipe.engines.lacks import lacking, only_native
from fullpipe.engines.ns3.cells import cell_lines, cell_problems, remedy
from fullpipe.engines.ns3.supported import (
    QUEUES,
    Counterpart,
    NoCounterpartError,
    attributes,
    counterpart,
    ns3_queue,
)
from fullpipe.scenario import Link, Network, RoutedFlow, Scenario, resolve
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.flows import Cca, Flow
from fullpipe.scenario.model.link.changes import MarkovChannel
from fullpipe.scenario.model.link.losses import plan_of
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.model.topology import Ns3
from fullpipe.scenario.model.workloads.datagrams import Udp
from fullpipe.scenario.model.workloads.writers import Cbr
from fullpipe.scenario.quantities import to_nanoseconds

# Conversion of a scenario to the input of the program: lines of words, with integers in base units.
#
# Equal scenarios and seeds give equal text. cpp/input.h describes the format.


NEVER = 2**63 - 1
NO_END = 2**64 - 1
NO_LIMIT_BYTES = 2**29
"""Size of a buffer that never limits a flow: 512 MiB, which fits into the window field of ns-3."""

_SHAPES = {"uniform": 0, "normal": 1}
"""Codes of the distributions of jitter."""
_RECOVERIES = {"prr": "ns3::TcpPrrRecovery", "classic": "ns3::TcpClassicRecovery"}


def program_input(scenario: Scenario, seed: int) -> str:
    """Return the program's input for a scenario without a sweep that `check` has accepted."""
    network, options = resolve(scenario), scenario.ns3 or Ns3()
    times = (scenario.duration_s, scenario.warmup_s, scenario.record.interval_s)
    run = ["run", seed, *map(to_nanoseconds, times), int(scenario.record.variables)]
    lines = [" ".join(map(str, run))]
    for link in network.links:
        lines += _link(link)
    cells = {cell.name: cell for cell in scenario.cells or ()}
    for medium in network.media:
        lines += cell_lines(cells[medium.name], medium)
    for routed in network.flows:
        lines += _flow(routed, options)
    return "".join(f"{line}\n" for line in lines)


def _link(link: Link) -> Iterator[str]:
    queue = ns3_queue(link.queue)
    yield f"link {link.name}"
    yield f"wire {link.rate_bps or 0} {link.delay_ns} {to_nanoseconds(link.impairments.aggregation_s or 0)}"
    yield f"queue {queue.type} {queue.quantum}"
    yield f"device {link.device_packets or 0}"
    for name, value in queue.attributes.items():
        yield f"queue_attribute {name} {value}"
    if link.loss:
        yield f"loss {_loss(plan_of(link.loss))} loss/{link.name}"
    for n, (at_ns, values) in enumerate(link.steps):
        yield f"change {at_ns} {values.get('rate_bps', -1)} {values.get('delay_ns', -1)}"
        if "loss" in values:
            yield f"change_loss {_loss(values['loss'])} loss/{link.name}/{n}"
    if link.impairments.reordering:
        reordering = link.impairments.reordering
        until = NEVER if reordering.until_s is None else to_nanoseconds(reordering.until_s)
        times = f"{to_nanoseconds(reordering.extra_s)} {to_nanoseconds(reordering.from_s)} {until}"
        yield f"detour {reordering.every} {times}"
    if link.impairments.jitter:
        jitter = link.impairments.jitter
        shape = _SHAPES[jitter.shape]
        yield f"jitter {to_nanoseconds(jitter.spread_s)} {shape} {int(jitter.reorder)}"
    if link.impairments.wifi_jitter_s is not None:
        yield f"wifi_jitter {to_nanoseconds(link.impairments.wifi_jitter_s)}"
    if link.impairments.recorded_jitter:
        recorded = link.impairments.recorded_jitter
        delays = sorted(recorded.delays_ns)
        options = f"{int(recorded.draw == 'interpolated')} {int(recorded.reorder)} {len(delays)}"
        yield " ".join(["recorded_jitter", options, *map(str, delays)])


def _loss(loss: Mapping[str, Any]) -> str:
    names = {"bernoulli": ["probability"], "periodic": ["every"]}
    chain = ["worsens", "improves", "good", "bad"]
    return " ".join([loss["kind"], *(f"{loss[name]:.17g}" for name in names.get(loss["kind"], chain))])


def _flow(routed: RoutedFlow, options: Ns3) -> Iterator[str]:
    flow, tcp = routed.flow, routed.tcp
    stop = NEVER if flow.stop_s is None else to_nanoseconds(flow.stop_s)
    size = NO_END if flow.size_bytes is None else flow.size_bytes
    paced = int(tcp.pacing == "always")
    yield f"flow {routed.name}"
    yield f"stream {routed.stream}"
    if flow.cca:
        yield from _algorithm(flow.cca, options)
    yield f"recovery {_RECOVERIES[options.recovery]}"
    yield f"time {to_nanoseconds(flow.start_s)} {to_nanoseconds(flow.start_jitter_s)} {stop}"
    yield f"data {size} {int(tcp.send_buffer_bytes is not None)}"
    tos = (flow.dscp or 0) << 2
    yield f"segment {tcp.mss_bytes} {tcp.link_overhead_bytes} {tcp.initial_window} {tos} {paced}"
    for name, value in _socket(tcp, options).items():
        yield f"socket_attribute {name} {value}"
    for pace in flow.application or ():
        yield f"pace {to_nanoseconds(pace.at_s)} {-1 if pace.rate_bps is None else pace.rate_bps}"
    if flow.datagrams:
        yield f"datagrams {flow.datagrams.interval_ns} {flow.datagrams.payload_bytes}"
    if isinstance(flow.workload, Cbr):
        yield f"writes {_writes(flow.workload, tcp)}"
    yield f"forward {_route(routed.forward)}"
    yield f"reverse {_route(routed.reverse)}"
    for reroute in routed.reroutes:
        for number, route in enumerate((reroute.forward, reroute.reverse)):
            if route is not None:
                yield f"reroute {to_nanoseconds(reroute.at_s)} {number} {_route(route)}"


def _writes(cbr: Cbr, tcp: Tcp) -> str:
    """Return the time between writes in ns, the bytes of a write, and whether writes that the socket refuses
    are dropped."""
    size = cbr.write_bytes or tcp.mss_bytes
    return f"{max(1, size * 8 * 10**9 // cbr.rate_bps)} {size} {int(cbr.when_full == 'drop')}"


def _algorithm(cca: Cca, options: Ns3) -> Iterator[str]:
    yield f"kind {cca.kind}"
    theirs = counterpart(cca.kind, options.algorithms == "fullpipe")
    if theirs is None:
        yield f"own {cca.kind} {json.dumps(cca.params)}"
        return
    yield f"algorithm {theirs.type}"
    for name, value in attributes(theirs, cca.params).items():
        yield f"algorithm_attribute {name} {value}"


def _socket(tcp: Tcp, options: Ns3) -> dict[str, str]:
    """Return the attributes of the sending and the receiving socket.

    The send buffer is at most as large as the receive buffer. A larger send buffer has no effect, and ns-3
    3.40 aborts on it.
    """
    receive = tcp.receive_buffer_bytes or NO_LIMIT_BYTES
    send = min(tcp.send_buffer_bytes or NO_LIMIT_BYTES, receive)
    timeout = {} if tcp.min_rto_s is None else {"MinRto": f"{to_nanoseconds(tcp.min_rto_s)}ns"}
    acks = {} if tcp.ack_every is None else _acks(tcp)
    return {
        "SegmentSize": str(tcp.mss_bytes),
        "InitialCwnd": str(tcp.initial_window),
        "SndBufSize": str(send),
        "RcvBufSize": str(receive),
        "Timestamp": "true" if tcp.timestamps else "false",
        "Sack": "true" if options.sack else "false",
        "UseEcn": "On" if tcp.ecn else "Off",
        **timeout,
        **acks,
    }


def _acks(tcp: Tcp) -> dict[str, str]:
    timeout = to_nanoseconds(tcp.delayed_ack_timeout_s)
    return {"DelAckCount": str(tcp.ack_every), "DelAckTimeout": f"{timeout}ns"}


def _route(links: tuple[int, ...]) -> str:
    return " ".join(map(str, links))


# Checks of the ns3 engine: unsupported parts of a scenario, with what to write instead.
#
# Keys that a scenario sets are refused if ns-3 does not support them. For keys that a scenario leaves out,
# ns-3's own defaults apply, because the defaults of `tcp` describe Linux.


# Keys that this engine supports or checks. A scenario with any other key is refused.
_FLOW = frozenset(
    {"name", "cca", "count", "start_s", "start_jitter_s", "stop_s", "size_bytes", "application", "dscp"}
    | {"workload", "station", "upload"}
    | {"hosts", "direction", "access", "source", "target", "via", "reroutes", "alternate", "tcp"}
)
_TCP = frozenset(
    {"mss_bytes", "timestamps", "link_overhead_bytes", "ack_every", "delayed_ack_timeout_s", "initial_window"}
    | {"send_buffer_bytes", "receive_buffer_bytes", "pacing", "ecn"}
    | {"loss_detection", "min_rto_s", "tail_loss_probe", "full_send_buffer", "undo"}
    | {"idle_application", "prr"}
    | {"sack_compression", "max_burst_bytes", "min_burst", "gro_s", "host"}
    | {"timer_tick_s"}
)


def problems(scenario: Scenario, can: Capabilities) -> list[Problem]:
    """Return all reasons why ns-3, with capabilities `can`, cannot run a scenario without a sweep."""
    options, network = scenario.ns3 or Ns3(), resolve(scenario)
    found = lacking(scenario, network, can, "the ns3 engine", remedy)
    found += only_native(network, "the ns3 engine")
    found += [*_records(scenario), *_links(network), *_transport("tcp", scenario.tcp)]
    found += cell_problems(scenario, network)
    for n, flow in enumerate(scenario.flows):
        found += _problems_of_flow(f"flows[{n}]", flow, scenario.tcp_of(flow), options)
    return list(dict.fromkeys(found))


def _records(scenario: Scenario) -> Iterator[Problem]:
    if scenario.record.packets:
        yield Problem("record.packets", "the ns3 engine captures no packets; leave this key out")
    if scenario.record.in_order:
        yield Problem("record.in_order", "the ns3 engine does not measure this; leave this key out")


def _links(network: Network) -> Iterator[Problem]:
    for link in network.links:
        yield from _changes(link)
    for hop in network.hops:
        if hop.queue is not None and hop.queue.kind not in QUEUES:
            continue
        try:
            ns3_queue(hop.queue)
        except NoCounterpartError as error:
            yield Problem(f"{hop.where}.queue", str(error))


def _changes(link: Link) -> Iterator[Problem]:
    """Yield unsupported changes of a link. Shapes and rate traces are already converted to steps."""
    steps = [values for _, values in link.steps]
    if any("limit" in values for values in steps):
        yield Problem(link.where, "the ns3 engine cannot change the limit of a queue; leave out the change")
    if any(isinstance(shape, MarkovChannel) for shape in link.shapes):
        yield Problem(
            link.where, "the ns3 engine has no Markov channel; write changes, a ramp, a spike or a cycle"
        )
    if link.frames is not None:
        yield Problem(f"{link.where}.frames", "the ns3 engine has no frames; give the link a rate")
    if link.trace and link.trace.deliveries is not None:
        yield Problem(link.where, "the ns3 engine has no traces of deliveries; it has traces of rates")


def _unknown(path: str, said: Model, known: frozenset[str]) -> Iterator[Problem]:
    for name in sorted(said.model_fields_set - known):
        if getattr(said, name) is not None:
            key = type(said).model_fields[name].alias or name
            yield Problem(f"{path}.{key}", "the ns3 engine does not support this key; leave it out")


def _transport(path: str, tcp: Tcp | None) -> Iterator[Problem]:
    """Yield unsupported keys of `tcp` that are set explicitly."""
    if tcp is None:
        return
    yield from _unknown(path, tcp, _TCP)
    refused = {
        "host": (
            tcp.host not in (None, "ns3-like"),
            'ns-3 has its own kind of host; leave this key out, or write "ns3-like"',
        ),
        "sack_compression": (tcp.sack_compression, "ns-3 does not merge duplicate ACKs; write false"),
        "gro": (tcp.gro_s is not None, "ns-3 has no receive offload; leave this key out"),
        "max_burst": (tcp.max_burst_bytes > tcp.mss_bytes, 'ns-3 has no segmentation offload; write "off"'),
        "min_burst": ((tcp.min_burst or 1) > 1, "ns-3 has no segmentation offload; write 1"),
        "pacing": (tcp.pacing == "fq", 'ns-3 has no sch_fq; write "auto" or "always"'),
        "loss_detection": (tcp.loss_detection == "rack", 'ns-3 has no RACK; write "dupack"'),
        "tail_loss_probe": (tcp.tail_loss_probe is True, "ns-3 has no tail loss probes; write false"),
        "full_send_buffer": (
            tcp.full_send_buffer == "app_limited",
            'in ns-3, a full send buffer does not make a flow application-limited; write "network_limited"',
        ),
        "idle_application": (
            tcp.idle_application == "app_limited",
            'in ns-3, an application that writes segments never limits the flow; write "network_limited"',
        ),
        "prr": (tcp.prr == "rfc9937", 'ns-3 has its own proportional rate reduction; write "ns3"'),
        "timer_tick": ((tcp.timer_tick_s or 0) > 0, 'timers in ns-3 are exact; write "0 s"'),
        "undo": (tcp.undo is True, "ns-3 never undoes a window reduction; write false"),
        "ecn": (tcp.ecn == "accecn", "ns-3 has no AccECN; write true or false"),
    }
    said = {Tcp.model_fields[name].alias or name for name in tcp.said}
    for name, (wrong, message) in refused.items():
        if wrong and name in said:
            yield Problem(f"{path}.{name}", message)
    for name in ("send_buffer", "receive_buffer"):
        if (getattr(tcp, f"{name}_bytes") or 0) > NO_LIMIT_BYTES:
            yield Problem(
                f"{path}.{name}",
                "buffers in ns-3 have at most 512 MiB; leave the key out for a buffer without limit",
            )


def _problems_of_flow(path: str, flow: Flow, tcp: Tcp, options: Ns3) -> Iterator[Problem]:
    yield from _transport(f"{path}.tcp", flow.tcp)
    yield from _unknown(path, flow, _FLOW)
    if isinstance(flow.workload, Udp) and (
        flow.workload.spacing == "poisson" or flow.workload.on_s is not None
    ):
        yield Problem(
            f"{path}.workload", "the ns3 engine sends datagrams only at a constant rate; leave out other keys"
        )
    if flow.cca is None or own.is_own(flow.cca.kind):
        return
    kind = flow.cca.kind
    theirs = counterpart(kind, options.algorithms == "fullpipe")
    if theirs is not None:
        yield from _parameters(path, flow.cca.params, theirs)
    elif options.algorithms == "ns3-only":
        yield Problem(
            f"{path}.cca", f'ns-3 has no {kind} of its own; write ns3.algorithms = "ns3" to use Fullpipe\'s'
        )
    if kind == "dctcp" and theirs is not None and not tcp.ecn:
        yield Problem(f"{path}.tcp.ecn", "ns-3's DCTCP always negotiates ECN; write ecn = true")


def _parameters(path: str, params: Mapping[str, Any], theirs: Counterpart) -> Iterator[Problem]:
    for key, value in params.items():
        if not theirs.knows(key, value):
            name = theirs.type.removeprefix("ns3::")
            yield Problem(
                f"{path}.cca.{key}",
                f'{name} has no such parameter; leave it out, or write ns3.algorithms = "fullpipe"',
            )
