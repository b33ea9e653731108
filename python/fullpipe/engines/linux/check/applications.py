"""Checks of applications. The guest's application writes segments at given paces."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.lacks import NATIVE
from fullpipe.engines.linux.layout.paces import MOST_PACES, paces
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.workloads.writers import Cbr, OnOff
from fullpipe.scenario.quantities import to_nanoseconds


def problems(path: str, flow: Flow, scenario: Scenario) -> Iterator[Problem]:
    """Return all reasons why a flow's application cannot be run, with their places in the scenario."""
    tcp, workload = scenario.tcp_of(flow), flow.workload
    if isinstance(workload, Cbr | OnOff) and workload.write_bytes not in (None, tcp.mss_bytes):
        text = "the guest's application writes segment by segment; leave it out"
        yield Problem(f"{path}.workload.write", f"{text}, or {NATIVE}")
    if isinstance(workload, OnOff) and workload.periods == "exponential":
        text = "the guest's application has constant periods"
        yield Problem(f"{path}.workload.periods", f"{text}; leave it out, or {NATIVE}")
        return
    start_ns, end_ns = to_nanoseconds(flow.start_s), to_nanoseconds(scenario.duration_s)
    changes = len(paces(flow, tcp, start_ns, end_ns))
    if changes > MOST_PACES:
        where = f"{path}.application" if flow.application else f"{path}.workload"
        text = f"{changes} changes of pace are more than the guest's {MOST_PACES}"
        yield Problem(where, f"{text}; make it shorter, or {NATIVE}")
