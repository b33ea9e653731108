"""Wi-Fi cells in the input of the program, and what ns-3 cannot do of them."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.ns3.queues import ns3_queue
from fullpipe.scenario import Medium, Network, Port, Scenario
from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.model.cells.wifi import Wifi
from fullpipe.scenario.model.cells.wifi_phy import standards
from fullpipe.scenario.model.link.queues import Discipline

CONTROL_RATE_BPS = 24_000_000
"""The highest of the basic rates that ns-3's access points have, at which stations answer."""
_CHOSEN = {"ideal": -1, "minstrel": -2}
"""In place of an MCS."""
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
    law = _laws(cell)[0]
    for station in cell.stations:
        mcs = _CHOSEN.get(law, cell.mcs_of(station))
        snr_db = _NO_NOISE_DB if station.snr is None else station.snr.mean_db
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


def _laws(cell: Wifi) -> list[str]:
    """How rates are to be chosen. Where noise takes nothing, "ideal" is the highest by any but Minstrel."""
    wanted = {station.law for station in cell.stations if station.rate.law != "ideal" or station.snr}
    every = {station.rate.law for station in cell.stations}
    return sorted(wanted | every if "minstrel" in wanted else wanted) or ["ideal"]


def wifi_problems(scenario: Scenario, network: Network) -> Iterator[Problem]:
    """What ns-3 cannot do of Wi-Fi cells."""
    for i, cell in enumerate(scenario.cells or ()):
        if not isinstance(cell, Wifi):
            continue
        if cell.control_rate_bps != CONTROL_RATE_BPS:
            yield Problem(
                f"cells[{i}].control_rate", 'ns-3\'s stations answer at 24 Mbit/s; write "24 Mbit/s"'
            )
        if len(_laws(cell)) > 1:
            yield Problem(
                f"cells[{i}].stations",
                'ns-3 has rates that are given, "ideal" ones or those of "minstrel" in a cell; write one',
            )
        for k, station in enumerate(cell.stations):
            if station.snr is not None and station.snr.spread_db:
                yield Problem(
                    f"cells[{i}].stations[{k}].snr.spread",
                    "the ns3 engine has a ratio that does not change; leave it out, or use --engine native",
                )
    own = {hop.name for medium in network.media for hop in medium.ports}
    for routed in network.flows:
        for new in routed.later:
            for route in (new.forward, new.reverse):
                if route and own & {network.hops[n].name for n in route}:
                    yield Problem("mobility", "the ns3 engine moves nothing into a cell; use --engine native")
