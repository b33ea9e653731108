"""The script of the guest: see guest/main.c for its language."""

from collections.abc import Collection, Iterator

from fullpipe.engines.linux.layout.network import NetworkLayout
from fullpipe.engines.linux.script import flow_lines, network_lines, tc_lines
from fullpipe.scenario import Scenario
from fullpipe.scenario.quantities import to_nanoseconds

_SAMPLE_NS = 10_000_000
"""Maximum interval of samples of flows, for RTTs."""
_TOLD = 200
"""Number of progress reports of the guest."""


def script(scenario: Scenario, network: NetworkLayout, known_ccas: Collection[str]) -> str:
    """Return the script of a scenario.

    Args:
        scenario: The scenario.
        network: Its layout.
        known_ccas: The congestion control algorithms of the kernel.
    """
    lines = [
        *network_lines.kernel(),
        *network_lines.namespaces(network),
        *network_lines.cables(network),
        *network_lines.addresses(network),
        *network_lines.routes(network),
        *network_lines.captures(network, scenario.record.packets or ()),
        *tc_lines.added(network),
        *tc_lines.watched(network),
        *_times(scenario),
        *(line for n, flow in enumerate(network.flows) for line in flow_lines.lines(n, flow, known_ccas)),
        *tc_lines.changed(network),
        *network_lines.reroutes(network),
    ]
    return "\n".join(lines) + "\n"


def sample_ns(interval_ns: int) -> int:
    """Return the interval of samples of flows. It is short enough for RTTs and divides that of the tables."""
    return interval_ns // -(-interval_ns // _SAMPLE_NS) if interval_ns else _SAMPLE_NS


def _times(scenario: Scenario) -> Iterator[str]:
    duration_ns = to_nanoseconds(scenario.duration_s)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    yield f"sample {sample_ns(interval_ns)} {interval_ns or duration_ns} {max(1, duration_ns // _TOLD)}"
    yield f"end {duration_ns}"
    for mark_ns in sorted({to_nanoseconds(scenario.warmup_s), duration_ns}):
        yield f"at {mark_ns} mark"
