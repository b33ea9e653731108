"""Conversion of a scenario to the input of the program: lines of words, with integers in base units.

Equal scenarios and seeds give equal text. cpp/input.h describes the format.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fullpipe.engines.ns3.algorithms import attributes, counterpart
from fullpipe.engines.ns3.cell_input import cell_lines
from fullpipe.engines.ns3.queues import ns3_queue
from fullpipe.scenario import Link, RoutedFlow, Scenario, resolve
from fullpipe.scenario.model.flows import Cca
from fullpipe.scenario.model.link.losses import plan_of
from fullpipe.scenario.model.ns3 import Ns3
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.model.workloads.writers import Cbr
from fullpipe.scenario.quantities import to_nanoseconds

NEVER = 2**63 - 1
NO_END = 2**64 - 1
NO_LIMIT_BYTES = 2**29
"""Size of a buffer that never limits: half a gigabyte, which fits into ns-3's window."""

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
    """Return the time between writes in ns, the bytes of a write, and whether refused writes are dropped."""
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
    """Return the attributes of both sockets.

    The send buffer is at most the receive buffer: a larger one has no effect, and ns-3 3.40 aborts on it.
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
