"""Notes on AQMs in front of an uplink that mistake the grant delay for a standing queue."""

from collections.abc import Callable, Iterator, Mapping

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.cells.cellular import Cellular
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.network.parts import Network, Port

_RTTS_OF_CAKE = 20
"""Ratio of CAKE's RTT parameter to its target (Linux `cake_set_rate`)."""
_TARGETS: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "codel": ("target_ms", lambda target_ms: target_ms),
    "fq_codel": ("target_ms", lambda target_ms: target_ms),
    "cake": ("rtt_ms", lambda rtt_ms: rtt_ms / _RTTS_OF_CAKE),
}
"""The parameter from which a queue derives its target delay, and the function from it to the target in ms."""


def grant_notes(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """Yield uplinks whose grant delay exceeds the target delay of their queue."""
    for cell, medium in zip(scenario.cells or (), network.media, strict=True):
        if isinstance(cell, Cellular):
            for port in medium.ports[1::2]:
                yield from _too_short(cell, port)


def _too_short(cell: Cellular, port: Port) -> Iterator[str]:
    queue, uplink = port.queue, cell.uplink
    if not isinstance(queue, Discipline) or queue.kind not in _TARGETS:
        return
    name, target_of = _TARGETS[queue.kind]
    target_ms = target_of(float(queue.params.get(name, catalogue.queue(queue.kind).params[name].default)))
    least_ms, most_ms = 1e3 * uplink.grant_delay_s, 1e3 * (uplink.grant_delay_s + uplink.request_period_s)
    if target_ms < least_ms:
        enough = most_ms / target_of(1.0)
        yield (
            f"{port.where}.queue: {queue.kind} drops what keeps waiting for more than {target_ms:g} ms, and "
            f"a grant takes {least_ms:g} to {most_ms:g} ms: uploads starve; write {name} = {enough:g} or more"
        )
