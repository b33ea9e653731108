"""Lines of the guest's script that make flows."""

from array import array
from collections.abc import Collection, Iterator

from fullpipe.engines.linux.install import algorithms
from fullpipe.engines.linux.layout.network import FlowLayout, NetworkLayout
from fullpipe.scenario.model.workloads.datagrams import Datagrams
from fullpipe.scenario.quantities import to_nanoseconds


def lines(number: int, flow: FlowLayout, known_ccas: Collection[str]) -> Iterator[str]:
    """Yield the lines of one flow."""
    described = flow.routed.flow
    if described.datagrams:
        yield _datagrams(number, flow, described.datagrams)
        return
    yield _connection(number, flow, known_ccas)
    for at_ns, rate_bps in flow.paces:
        yield f"pace {at_ns} {rate_bps}"


def departures(network: NetworkLayout) -> dict[str, bytes]:
    """Return files of the guest, by name, with departure times of datagrams as 64-bit nanoseconds."""
    return {
        _departures_file(n): array("q", flow.departures_ns).tobytes()
        for n, flow in enumerate(network.flows)
        if flow.routed.flow.datagrams
    }


def _departures_file(number: int) -> str:
    return f"departures.{number}"


def _datagrams(number: int, flow: FlowLayout, workload: Datagrams) -> str:
    words = (
        number,
        flow.sender.namespace,
        flow.receiver.namespace,
        flow.receiver.address,
        workload.protocol,
        workload.payload_bytes,
        int(workload.echo),
        4 * (flow.routed.flow.dscp or 0),
        _departures_file(number),
    )
    return "datagrams " + " ".join(str(word) for word in words)


def _connection(number: int, flow: FlowLayout, known_ccas: Collection[str]) -> str:
    described, tcp = flow.routed.flow, flow.routed.tcp
    kind = described.described
    cca = algorithms.in_kernel(kind, known_ccas) or kind
    words = (
        number,
        flow.sender.namespace,
        flow.receiver.namespace,
        flow.receiver.address,
        cca,
        cca if kind in algorithms.ANSWERED else "-",
        flow.start_ns,
        -1 if described.stop_s is None else to_nanoseconds(described.stop_s),
        -1 if described.size_bytes is None else described.size_bytes,
        tcp.mss_bytes,
        tcp.receive_buffer_bytes or 0,
        int(tcp.pacing == "always"),
        4 * (described.dscp or 0),
    )
    return "flow " + " ".join(str(word) for word in words)
