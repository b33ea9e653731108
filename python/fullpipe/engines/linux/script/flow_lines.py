"""Lines of the guest's script that make flows, and when those start and end."""

from collections.abc import Collection, Iterator

from fullpipe.engines import streams
from fullpipe.engines.linux.install import algorithms
from fullpipe.engines.linux.layout.namespaces import Layout, address
from fullpipe.scenario import Route, Scenario
from fullpipe.scenario.model.workloads.datagrams import Datagrams
from fullpipe.scenario.quantities import to_nanoseconds


def lines(number: int, route: Route, layout: Layout, start_ns: int, known: Collection[str]) -> Iterator[str]:
    """Of one flow."""
    if route.flow.datagrams:
        yield _datagrams(number, route, route.flow.datagrams, layout)
        return
    yield _connection(number, route, layout, start_ns, known)
    for pace in route.flow.application or ():
        yield f"pace {to_nanoseconds(pace.at_s)} {-1 if pace.rate_bps is None else pace.rate_bps}"


def _datagrams(number: int, route: Route, workload: Datagrams, layout: Layout) -> str:
    words = (
        number,
        layout.hosts["sender", number],
        layout.hosts["receiver", number],
        address(number, to_receiver=True),
        workload.protocol,
        workload.payload_bytes,
        int(workload.echo),
        4 * (route.flow.dscp or 0),
        departures_file(number),
    )
    return "datagrams " + " ".join(str(word) for word in words)


def departures_file(number: int) -> str:
    """Where the guest finds when the datagrams of a flow leave."""
    return f"departures.{number}"


def _connection(number: int, route: Route, layout: Layout, start_ns: int, known: Collection[str]) -> str:
    flow, tcp = route.flow, route.tcp
    kind = flow.described
    cca = algorithms.in_kernel(kind, known) or kind
    words = (
        number,
        layout.hosts["sender", number],
        layout.hosts["receiver", number],
        address(number, to_receiver=True),
        cca,
        cca if kind in algorithms.ANSWERED else "-",
        start_ns,
        -1 if flow.stop_s is None else to_nanoseconds(flow.stop_s),
        -1 if flow.size_bytes is None else flow.size_bytes,
        tcp.mss_bytes,
        tcp.receive_buffer_bytes or 0,
        int(tcp.pacing == "always"),
        4 * (flow.dscp or 0),
    )
    return "flow " + " ".join(str(word) for word in words)


def start_ns(route: Route, seed: int) -> int:
    """When a flow starts, as in the simulator."""
    flow = route.flow
    return streams.start_ns(
        to_nanoseconds(flow.start_s), to_nanoseconds(flow.start_jitter_s), seed, route.stream
    )


def end_ns(route: Route, scenario: Scenario) -> int:
    """When a flow stops by itself; what leaves at the very end of a run leaves."""
    after_ns = to_nanoseconds(scenario.duration_s) + 1
    return after_ns if route.flow.stop_s is None else min(after_ns, to_nanoseconds(route.flow.stop_s))
