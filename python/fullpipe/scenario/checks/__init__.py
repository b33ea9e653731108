"""Consistency checks between the parts of a scenario. Each function yields one line per mistake."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.checks.cells import cell_problems
from fullpipe.scenario.checks.flows import arrival_problems, flow_problems, time_problems
from fullpipe.scenario.checks.hosts import host_problems
from fullpipe.scenario.checks.limits import too_many_reroutes, too_many_rows, too_many_steps
from fullpipe.scenario.checks.links import change_problems, limit_problems
from fullpipe.scenario.checks.reroutes import moved_link_problems
from fullpipe.scenario.checks.routes import route_problems
from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.network import resolve
from fullpipe.scenario.network.parts import Network


def problems_of(scenario: ScenarioModel) -> list[str]:
    """Return all inconsistencies between the parts of a scenario, without its sweep.

    Each part by itself is already validated.
    """
    lines = [
        *time_problems(scenario),
        *flow_problems(scenario),
        *moved_link_problems(scenario),
        *host_problems(scenario),
        *cell_problems(scenario),
        *_of_rare_parts(scenario),
        *limit_problems(scenario.topology),
        *too_many_steps(scenario),
        *too_many_reroutes(scenario),
    ]
    if lines:
        from fullpipe.scenario.read.problems import first_lines  # here: most scenarios are right

        return first_lines(lines, len(lines))
    try:
        # Flows of an entry differ only in their names, which matter if packets are captured.
        network = resolve(scenario, each=None if scenario.record.packets else 1)
    except ProblemsError as problems:
        return list(problems.lines)
    return [
        *_of_names(scenario, network),
        *route_problems(network),
        *change_problems(scenario, network),
        *arrival_problems(scenario, network),
        *_of_idle_mobility(scenario, network),
        *_of_capture(scenario, network),
        *too_many_rows(scenario, network),
    ]


def _of_rare_parts(scenario: ScenarioModel) -> Iterator[str]:
    """Check labels, mobility and route controllers. Their checks are imported only if a scenario has them."""
    if scenario.labels:
        from fullpipe.scenario.labels import problem_of

        problems = ((key, problem_of(key, scenario.sweep)) for key in scenario.labels)
        yield from (f"labels.{shown(key)}: {problem}" for key, problem in problems if problem)
    if scenario.mobility:
        from fullpipe.scenario.checks.mobility import mobility_problems

        yield from mobility_problems(scenario)
    if scenario.route_controllers:
        from fullpipe.scenario.checks.route_control import route_controller_problems

        yield from route_controller_problems(scenario)


def _of_idle_mobility(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    if scenario.mobility:
        from fullpipe.scenario.checks.mobility import idle_mobility_problems

        yield from idle_mobility_problems(scenario, network)


def _of_names(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    for what, names in (
        ("flows", chain.from_iterable(flow_names(scenario.flows))),
        ("topology.links", (hop.name for hop in network.hops)),
    ):
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            yield f"{what}: the name {shown(twice[0])} is used more than once; give each a name of its own"


def _of_capture(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    if scenario.record.variables and not scenario.record.interval_s:
        yield 'record.variables: they are sampled; give an interval, as in interval = "100 ms"'
    points = dict.fromkeys(("sender", "receiver", *(hop.name for hop in network.hops)))
    for i, point in enumerate(scenario.record.packets or ()):
        if point not in points:
            yield f"record.packets[{i}]: unknown point {shown(point)}{suggestion(point, islice(points, 20))}"
