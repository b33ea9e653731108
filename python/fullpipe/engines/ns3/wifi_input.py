"""Wi-Fi cells in the input of the program, and what ns-3 cannot do of them."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.ns3.queues import ns3_queue
from fullpipe.scenario import Medium, Network, Port, Scenario
from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.model.cells.wifi import Wifi, WifiStation
from fullpipe.scenario.model.cells.wifi_phy import standards
from fullpipe.scenario.model.link.queues import Discipline

CONTROL_RATE_BPS = 24_000_000
"""The highest of the basic rates that ns-3's access points have, at which stations answer."""
_IDEAL = -1
_NO_NOISE_DB = -1_000


def wifi_lines(cell: Cell, medium: Medium) -> Iterator[str]:
    """A cell, its stations and its ports in order."""
    assert isinstance(cell, Wifi)  # `check` refuses other kinds
    standard = standards()[cell.standard]
    ampdu_bytes = min(cell.max_ampdu_bytes or standard.ampdu_bytes, standard.ampdu_bytes)
    frames = min(cell.max_ampdu_mpdus or standard.window, standard.window)
    access = (int(cell.rts), int(cell.beacons), int(cell.bar), cell.retries, medium.ports[0].delay_ns)
    yield f"cell {cell.name}"
    band = int(cell.band_mhz == 2_400)
    width, guard_ns = cell.width_mhz, cell.guard_interval_ns
    yield f"radio {cell.standard.replace('.', '')} {band} {width} {cell.streams} {guard_ns}"
    yield f"access {' '.join(map(str, access))}"
    yield f"aggregate {ampdu_bytes} {frames}"
    ideal = _is_ideal(cell)
    for station in cell.stations:
        mcs = _IDEAL if ideal else cell.mcs_of(station)
        snr_db = _NO_NOISE_DB if station.snr_db is None else station.snr_db
        yield f"station {mcs} {cell.streams_of(station)} {station.errors:.17g} {snr_db:g}"
    for port in medium.ports:
        yield from _port(port)


def _port(port: Port) -> Iterator[str]:
    yield f"port {port.name}"
    if isinstance(port.queue, Discipline):
        queue = ns3_queue(port.queue)
        yield f"queue {queue.type} {queue.quantum}"
        for name, value in queue.attributes.items():
            yield f"queue_attribute {name} {value}"
    elif port.queue:
        yield f"fifo {port.queue.packets or 0} {port.queue.limit_bytes or 0}"


def _is_ideal(cell: Wifi) -> bool:
    """Whether ns-3 chooses the rates. Where noise takes nothing of some, it would choose the highest, too."""
    return any(station.rate is None and station.snr_db is not None for station in cell.stations) or all(
        station.rate is None for station in cell.stations
    )


def wifi_problems(scenario: Scenario, network: Network) -> Iterator[Problem]:
    """What ns-3 cannot do of Wi-Fi cells."""
    for i, cell in enumerate(scenario.cells or ()):
        if not isinstance(cell, Wifi):
            continue
        if cell.control_rate_bps != CONTROL_RATE_BPS:
            yield Problem(
                f"cells[{i}].control_rate", 'ns-3\'s stations answer at 24 Mbit/s; write "24 Mbit/s"'
            )
        if _is_ideal(cell) and any(map(_has_fixed_rate, cell.stations)):
            yield Problem(
                f"cells[{i}].stations",
                "ns-3 has either rates that are given or ideal ones in a cell; write one",
            )
    own = {hop.name for medium in network.media for hop in medium.ports}
    for routed in network.flows:
        for new in routed.later:
            for route in (new.forward, new.reverse):
                if route and own & {network.hops[n].name for n in route}:
                    yield Problem("mobility", "the ns3 engine moves nothing into a cell; use --engine native")


def _has_fixed_rate(station: WifiStation) -> bool:
    return station.rate is not None
