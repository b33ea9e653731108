"""Conversion of one link of a scenario."""

from typing import TYPE_CHECKING, Any

from fullpipe.scenario.model.link import LinkModel
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.network.parts import Link
from fullpipe.scenario.quantities import NANOSECONDS, to_nanoseconds

if TYPE_CHECKING:
    from fullpipe.scenario.network.timeline import Step


def link_of(described: LinkModel, name: str, ends: tuple[str, str], where: str, duration_s: float) -> Link:
    rate_bps, delay_s = described.rate_bps, described.delay_s
    steps = _steps(described, duration_s, where) if described.is_changing else []
    if described.trace is not None and steps and steps[0][0] == 0:
        beginning = steps[0][1]  # the recording gives what the link leaves out
        rate_bps = rate_bps or beginning.get("rate_bps") or None
        delay_s = delay_s or beginning.get("delay_ns", 0) / NANOSECONDS
    if described.trace is not None:
        delay_s += described.trace.mean_delay_s
    return Link(
        name,
        *ends,
        rate_bps,
        delay_s,
        described.queue,
        described.loss,
        where,
        device_packets=described.device_queue.packets if described.device_queue else None,
        changes=described.changes or (),
        shapes=described.shapes or (),
        trace=described.trace,
        frames=described.frames,
        impairments=described.impairments,
        steps=tuple(steps),
    )


def _steps(described: LinkModel, duration_s: float, where: str) -> "list[Step]":
    from fullpipe.scenario.network.timeline import timeline  # here: most links do not change

    return timeline(described, _known(described), duration_s, where)


def _known(described: LinkModel) -> dict[str, Any]:
    """Return the initial values of a link that the scenario gives, in the format of the plan."""
    from fullpipe.scenario.model.link.losses import NO_LOSS, plan_of

    queue, rate_bps = described.queue, described.rate_bps
    if isinstance(queue, Discipline) and (rate_bps is None or described.device_queue):
        rate_bps = queue.rate_bps or rate_bps
    known = {
        "rate_bps": rate_bps,
        "delay_ns": to_nanoseconds(described.delay_s),
        "limit": _limit(queue),
        "loss": plan_of(described.loss) if described.loss else dict(NO_LOSS),
    }
    return {key: value for key, value in known.items() if value is not None}


def _limit(queue: DropTail | Discipline | None) -> dict[str, int | None] | None:
    """Return the limit of a queue if the scenario gives it in packets or bytes."""
    if isinstance(queue, DropTail) and not queue.is_relative:
        return {"packets": queue.packets, "bytes": queue.limit_bytes}
    if isinstance(queue, Discipline) and queue.limit_key in queue.params:
        return {"packets": queue.params[queue.limit_key], "bytes": None}
    return None
