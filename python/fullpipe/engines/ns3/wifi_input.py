"""Wi-Fi cells in the input of the program, and unsupported parts of them."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.scenario import Medium
from fullpipe.scenario.model.cells.wifi import Wifi
from fullpipe.scenario.model.cells.wifi_phy import standards

CONTROL_RATE_BPS = 24_000_000
"""Highest basic rate of ns-3's access points, which is the rate of control responses."""
_CHOSEN = {"ideal": -1, "minstrel": -2}
"""Codes of adaptive rate control, in place of an MCS."""
_NO_NOISE_DB = -1_000


def wifi_lines(cell: Wifi, medium: Medium) -> Iterator[str]:
    """Yield the lines of a cell's parameters and its stations, in order. Lines of ports follow elsewhere."""
    standard = standards()[cell.standard]
    ampdu_bytes = min(cell.max_ampdu_bytes or standard.ampdu_bytes, standard.ampdu_bytes)
    frames = min(cell.max_ampdu_mpdus or standard.window, standard.window)
    access = (int(cell.rts), int(cell.beacons), int(cell.bar), cell.retries, medium.ports[0].delay_ns)
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


def _laws(cell: Wifi) -> list[str]:
    """Return the rate control laws of a cell. Without noise, "ideal" equals the highest MCS under any law but
    Minstrel."""
    wanted = {station.law for station in cell.stations if station.rate.law != "ideal" or station.snr}
    every = {station.rate.law for station in cell.stations}
    return sorted(wanted | every if "minstrel" in wanted else wanted) or ["ideal"]


def wifi_problems(where: str, cell: Wifi) -> Iterator[Problem]:
    """Yield unsupported parts of a Wi-Fi cell."""
    if cell.control_rate_bps != CONTROL_RATE_BPS:
        yield Problem(f"{where}.control_rate", 'ns-3\'s stations answer at 24 Mbit/s; write "24 Mbit/s"')
    if len(_laws(cell)) > 1:
        yield Problem(
            f"{where}.stations",
            'ns-3 has rates that are given, "ideal" ones or those of "minstrel" in a cell; write one',
        )
    for k, station in enumerate(cell.stations):
        if station.snr is not None and station.snr.spread_db:
            yield Problem(
                f"{where}.stations[{k}].snr.spread",
                "the ns3 engine has a ratio that does not change; leave it out, or use --engine native",
            )
