"""Wi-Fi and LTE cells in the input of the ns-3 program, and checks of unsupported parts of cells."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.lacks import NATIVE
from fullpipe.engines.ns3.supported import ns3_queue
from fullpipe.scenario import Medium, Network, Port, Scenario
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.model.cells.presets import LTE_RESOURCE_BLOCKS, Lte
from fullpipe.scenario.model.cells.wifi import Wifi, standards
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.quantities import to_nanoseconds

# LTE cells in the input of the program, and unsupported parts of them.


_HIGHEST_MCS = 28
"""Highest MCS, which ns-3 selects if there is no noise."""
_FAIRNESS_SLOTS = 99
"""Averaging window of ns-3's proportional fair scheduler, in slots; a constant in ns-3."""
_MOST_USERS = 319
"""Largest number of users of a cell: one less than the number of subframes in the longest sounding period."""
_GROUPS = {10: 1, 26: 2, 63: 3, 110: 4}
"""Resource blocks per group, by the largest carrier (in resource blocks) with this group size (3GPP TS
36.213, table 7.1.6.1-1)."""


def lte_lines(cell: Lte) -> Iterator[str]:
    """Yield the line of a cell's parameters. `cell_lines` adds the lines of ports."""
    fair, acknowledged = cell.scheduler == "proportional_fair", cell.rlc.mode == "am"
    numbers = (
        cell.carrier[0],
        len(cell.stations),
        int(fair),
        int(acknowledged),
        to_nanoseconds(cell.delay_s),
    )
    yield f"lte {' '.join(map(str, numbers))}"


def scheduled_blocks(cell: Lte) -> int:
    """Return the resource blocks that ns-3's schedulers assign. ns-3's schedulers assign only whole groups of
    blocks."""
    blocks = cell.carrier[0]
    group = next(size for most, size in _GROUPS.items() if blocks <= most)
    return blocks // group * group


def lte_problems(where: str, cell: Lte) -> Iterator[Problem]:
    """Yield unsupported parts of an LTE cell."""
    wrong = {
        "resource_blocks": (
            cell.carrier[0] not in LTE_RESOURCE_BLOCKS.values(),
            f"ns-3 has carriers of {', '.join(map(str, LTE_RESOURCE_BLOCKS.values()))} blocks",
        ),
        "layers": (cell.layers > 1, "the ns3 engine has one spatial layer; write 1"),
        "uplink.layers": (cell.uplink.layers > 1, "the ns3 engine has one spatial layer; write 1"),
        "pattern": (cell.pattern != "FDD", 'ns-3 has no time division in LTE; write "FDD"'),
        "fairness_slots": (
            "fairness_slots" in cell.model_fields_set and cell.fairness_slots != _FAIRNESS_SLOTS,
            f"ns-3 averages over {_FAIRNESS_SLOTS} slots; write this value, or leave the key out",
        ),
        "processing": (cell.processing_s is not None, "ns-3 has a fixed processing time; leave the key out"),
        "background": (
            cell.background.users > 0,
            f"the ns3 engine has no users besides the given ones; {NATIVE}",
        ),
        "drx": (cell.drx is not None, f"users in ns-3 always listen; leave drx out, or {NATIVE}"),
        "gaps": (bool(cell.gaps), f"the ns3 engine has no gaps; {NATIVE}"),
        "satellites": (cell.satellites is not None, f"the ns3 engine has no satellites; {NATIVE}"),
        "users": (len(cell.stations) > _MOST_USERS, f"ns-3 has at most {_MOST_USERS} users in a cell"),
    }
    for key, (refused, why) in wrong.items():
        if refused:
            yield Problem(f"{where}.{key}", why)
    for key in _said(cell.uplink, {"request_period_s", "grant_delay_s", "first_grant_bytes"}):
        yield Problem(f"{where}.uplink.{key}", "ns-3 has fixed times and sizes of grants; leave this key out")
    yield from _queues(where, cell)
    yield from _users(where, cell)


def _said(model: Model, names: set[str]) -> list[str]:
    """Return the keys among `names` that a scenario sets."""
    return [type(model).model_fields[name].alias or name for name in sorted(model.model_fields_set & names)]


def _queues(where: str, cell: Lte) -> Iterator[Problem]:
    for queue, place in ((cell.queue, ""), *(cell.queue_of(i) for i in range(len(cell.stations)))):
        if not isinstance(queue, DropTail | None):
            text = "the RLC buffer in ns-3 is a FIFO; write drop_tail"
            yield Problem(f"{where}{place}.queue", text)


def _users(where: str, cell: Lte) -> Iterator[Problem]:
    for i, user in enumerate(cell.stations):
        here = f"{where}.users[{i}]"
        if user.rate.mcs not in (None, _HIGHEST_MCS):
            text = (
                f"ns-3 chooses the MCS by channel reports ({_HIGHEST_MCS} without noise); leave the key out"
            )
            yield Problem(f"{here}.rate.mcs", text)
        if user.handovers:
            yield Problem(f"{here}.handovers", f"the ns3 engine has no gaps; {NATIVE}")
        for key, given in (("snr", user.snr is not None), ("errors", user.errors > 0)):
            if given:
                text = f"LTE cells of the ns3 engine have no noise; leave this key out, or {NATIVE}"
                yield Problem(f"{here}.{key}", text)


# Wi-Fi cells in the input of the program, and unsupported parts of them.


CONTROL_RATE_BPS = 24_000_000
"""Highest basic rate of ns-3's access points, which is the rate of control responses."""
_CHOSEN = {"ideal": -1, "minstrel": -2}
"""Codes that select adaptive rate control instead of an MCS."""
_NO_NOISE_DB = -1_000


def wifi_lines(cell: Wifi, medium: Medium) -> Iterator[str]:
    """Yield the lines of a cell's parameters and stations, in order. `cell_lines` adds the lines of ports."""
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
    """Return the rate control laws of a cell. Without noise, every law except Minstrel selects the highest
    MCS, as "ideal" does."""
    wanted = {station.law for station in cell.stations if station.rate.law != "ideal" or station.snr}
    every = {station.rate.law for station in cell.stations}
    return sorted(wanted | every if "minstrel" in wanted else wanted) or ["ideal"]


def wifi_problems(where: str, cell: Wifi) -> Iterator[Problem]:
    """Yield unsupported parts of a Wi-Fi cell."""
    if cell.control_rate_bps != CONTROL_RATE_BPS:
        yield Problem(
            f"{where}.control_rate", 'in ns-3, control responses are sent at 24 Mbit/s; write "24 Mbit/s"'
        )
    if len(_laws(cell)) > 1:
        yield Problem(
            f"{where}.stations",
            'in ns-3, all stations of a cell have fixed rates, "ideal" or "minstrel"; write one for all',
        )
    for k, station in enumerate(cell.stations):
        if station.snr is not None and station.snr.spread_db:
            yield Problem(
                f"{where}.stations[{k}].snr.spread",
                f"the signal-to-noise ratio is constant in the ns3 engine; leave this key out, or {NATIVE}",
            )


# Cells in the input of the program, and unsupported parts of cells.


def cell_lines(cell: Cell, medium: Medium) -> Iterator[str]:
    """Yield the lines of a cell and its ports, in order."""
    yield f"cell {cell.name}"
    if isinstance(cell, Wifi):
        yield from wifi_lines(cell, medium)
    elif isinstance(cell, Lte):  # `check` refuses other kinds
        yield from lte_lines(cell)
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


def cell_problems(scenario: Scenario, network: Network) -> Iterator[Problem]:
    """Yield unsupported parts of cells."""
    for i, cell in enumerate(scenario.cells or ()):
        if isinstance(cell, Wifi):
            yield from wifi_problems(f"cells[{i}]", cell)
        elif isinstance(cell, Lte):
            yield from lte_problems(f"cells[{i}]", cell)
    own = {hop.name for medium in network.media for hop in medium.ports}
    for routed in network.flows:
        for new in routed.later:
            for route in (new.forward, new.reverse):
                if route and own & {network.hops[n].name for n in route}:
                    yield Problem("mobility", "the ns3 engine has no handovers to cells; use --engine native")


def cell_remarks(scenario: Scenario) -> Iterator[str]:
    """Yield remarks on cells that ns-3 models differently."""
    for cell in scenario.cells or ():
        in_turn = isinstance(cell, Lte) and cell.scheduler == "round_robin" and len(cell.stations) > 1
        if in_turn:
            yield f"{cell.name}: ns-3 divides slots among users; the native engine gives a user whole slots"
        if isinstance(cell, Wifi) and not cell.release_each:
            yield (
                f"{cell.name}: ns-3 delivers the packets of an aggregate one by one; on the native engine,"
                " release_each = true has this effect"
            )
        if isinstance(cell, Lte) and scheduled_blocks(cell) != cell.carrier[0]:
            blocks = scheduled_blocks(cell)
            yield (
                f"{cell.name}: ns-3 assigns only whole groups of resource blocks; on the native engine,"
                f" resource_blocks = {blocks} has this effect"
            )


def remedy(family: str, name: str) -> str:
    """Return the remedy for an entry of the registry that ns-3 lacks."""
    if (family, name) == ("media", "nr"):
        return f"NR needs 5G-LENA, which ns-3's wheel lacks: build ns-3 with 5G-LENA from source, or {NATIVE}"
    return NATIVE
