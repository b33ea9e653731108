"""LTE cells in the input of the program, and unsupported parts of them."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.lacks import NATIVE
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.cells.lte import RESOURCE_BLOCKS, Lte
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.quantities import to_nanoseconds

_HIGHEST_MCS = 28
"""MCS that ns-3 selects without noise."""
_FAIRNESS_SLOTS = 99
"""Averaging window of ns-3's proportional fair scheduler, which is a constant."""
_MOST_USERS = 319
"""Most users of a cell: one less than the subframes in the longest sounding period."""
_GROUPS = {10: 1, 26: 2, 63: 3, 110: 4}
"""Resource blocks per group, by the largest carrier in resource blocks (3GPP TS 36.213, table 7.1.6.1-1)."""


def lte_lines(cell: Lte) -> Iterator[str]:
    """Yield the line of a cell's parameters. Lines of ports follow elsewhere."""
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
    """Return the resource blocks that ns-3's schedulers assign, which are whole groups."""
    blocks = cell.carrier[0]
    group = next(size for most, size in _GROUPS.items() if blocks <= most)
    return blocks // group * group


def lte_problems(where: str, cell: Lte) -> Iterator[Problem]:
    """Yield unsupported parts of an LTE cell."""
    wrong = {
        "resource_blocks": (
            cell.carrier[0] not in RESOURCE_BLOCKS.values(),
            f"ns-3 has carriers of {', '.join(map(str, RESOURCE_BLOCKS.values()))} blocks",
        ),
        "layers": (cell.layers > 1, "the ns3 engine has one spatial layer; write 1"),
        "uplink.layers": (cell.uplink.layers > 1, "the ns3 engine has one spatial layer; write 1"),
        "pattern": (cell.pattern != "FDD", 'ns-3 has no time division in LTE; write "FDD"'),
        "fairness_slots": (
            "fairness_slots" in cell.model_fields_set and cell.fairness_slots != _FAIRNESS_SLOTS,
            f"in ns-3 they are {_FAIRNESS_SLOTS}; write that, or leave it out",
        ),
        "processing": (cell.processing_s is not None, "ns-3 has its own; leave it out"),
        "background": (
            cell.background.users > 0,
            f"the ns3 engine has no users beside those given; {NATIVE}",
        ),
        "drx": (cell.drx is not None, f"users in ns-3 always listen; leave it out, or {NATIVE}"),
        "gaps": (bool(cell.gaps), f"the ns3 engine has no gaps; {NATIVE}"),
        "satellites": (cell.satellites is not None, f"the ns3 engine has no satellites; {NATIVE}"),
        "users": (len(cell.stations) > _MOST_USERS, f"ns-3 has at most {_MOST_USERS} in a cell"),
    }
    for key, (refused, why) in wrong.items():
        if refused:
            yield Problem(f"{where}.{key}", why)
    for key in _said(cell.uplink, {"request_period_s", "grant_delay_s", "first_grant_bytes"}):
        yield Problem(f"{where}.uplink.{key}", "ns-3 grants in its own time; leave it out")
    yield from _queues(where, cell)
    yield from _users(where, cell)


def _said(model: Model, names: set[str]) -> list[str]:
    """Return the keys among `names` that a scenario sets."""
    return [type(model).model_fields[name].alias or name for name in sorted(model.model_fields_set & names)]


def _queues(where: str, cell: Lte) -> Iterator[Problem]:
    for queue, place in ((cell.queue, ""), *(cell.queue_of(i) for i in range(len(cell.stations)))):
        if not isinstance(queue, DropTail | None):
            text = "the buffer of RLC in ns-3 is first in, first out; write drop_tail"
            yield Problem(f"{where}{place}.queue", text)


def _users(where: str, cell: Lte) -> Iterator[Problem]:
    for i, user in enumerate(cell.stations):
        here = f"{where}.users[{i}]"
        if user.rate.mcs not in (None, _HIGHEST_MCS):
            text = f"ns-3 chooses it from reports of quality, {_HIGHEST_MCS} without noise; leave it out"
            yield Problem(f"{here}.rate.mcs", text)
        if user.handovers:
            yield Problem(f"{here}.handovers", f"the ns3 engine has no gaps; {NATIVE}")
        for key, given in (("snr", user.snr is not None), ("errors", user.errors > 0)):
            if given:
                text = f"LTE cells of the ns3 engine are without noise; leave it out, or {NATIVE}"
                yield Problem(f"{here}.{key}", text)
