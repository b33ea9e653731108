"""The path of scenarios, drawn with its numbers: rates, delays, queues, losses, cells and routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fullpipe.analysis.layout import Layout, air, begin, layout
from fullpipe.analysis.length import FEWEST_SEEDS, need
from fullpipe.analysis.metrics.groups import bulk_names, waits_for_others
from fullpipe.analysis.metrics.paths import rate_varies
from fullpipe.errors import FullpipeError
from fullpipe.report import content
from fullpipe.report.content import Figure, PathHop, PathNode, PathRoute
from fullpipe.report.svg.marks import of_flows
from fullpipe.report.text import counted, listed
from fullpipe.runs import Run
from fullpipe.scenario import Network, Scenario, catalogue, resolve
from fullpipe.scenario.labels import Labels, algorithm_named
from fullpipe.scenario.model.link.losses import Loss
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.network.parts import Hop, Link
from fullpipe.scenario.quantities import BITS

_MOST_HOPS, _MOST_NODES, _MOST_ROUTES = 8, 48, 8
"""Maximum numbers of hops with numbers, of nodes, and of routes in a drawing."""
_MOST_PARTS = 200
"""Maximum number of nodes of a network that is laid out."""
_MOST_SCENARIOS = 200
"""Maximum number of points whose paths are resolved."""
_MOST_NAMES = 4
_FULL_BYTES = 1_514
"""Largest Ethernet frame without its checksum, for packets of a queue in bytes."""
_RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
_SIZES = ((1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_Units = Sequence[tuple[float, str]]


def path_of_runs(runs: Iterable[Run]) -> Figure | None:
    """Draw the path of runs. Imported runs are left out, because their path is unknown."""
    return path_of([run.scenario for run in runs if not run.meta.engine.is_of_a_file])


def path_of(scenarios: Sequence[Scenario]) -> Figure | None:
    """Draw the path of scenarios. Where scenarios differ, the label has the range, such as "0.5 to 8 BDP".

    Returns:
        None if the path cannot be resolved, as without the file of a recording, or has too many nodes.
    """
    distinct = list({one.digest: one for one in scenarios}.values())[:_MOST_SCENARIOS]
    if not distinct:
        return None
    try:
        first = resolve(distinct[0], each=1)
        if not first.flows or len(first.nodes) > _MOST_PARTS or len(_used(layout(first))) > _MOST_NODES:
            return None
        networks = [first, *(resolve(one, each=1) for one in distinct[1:])]
    except (FullpipeError, OSError):
        return None
    hops = _numbered(first)
    pairs = zip(distinct, networks, strict=True)
    alike = [(one, network) for one, network in pairs if _names(network) == _names(first)]
    labels = _labels(distinct)
    drawn = _drawn(distinct, first, hops[:_MOST_HOPS], labels)
    lines = [f"Link {n}, {_hop(alike, hop)}" for n, hop in enumerate(hops[:_MOST_HOPS], 1)]
    lines += [_round_trip([network for _, network in alike])]
    left = [counted(len(hops) - _MOST_HOPS, "more hop")] if len(hops) > _MOST_HOPS else []
    left += [f"{counted(len(networks) - len(alike), 'scenario')} with another topology"] * (
        len(alike) < len(networks)
    )
    more = len(labels) - _MOST_ROUTES
    left += [counted(more, "more group") + " of flows"] if more > 0 else []
    lines += [f"Not drawn: {listed(left)}."] if left else []
    chart = content.Path(drawn.nodes, drawn.hops, drawn.routes, lines)
    return Figure("Path: nodes, numbered links, and routes of data.", chart, "; ".join(lines))


def _names(network: Network) -> list[str]:
    return [hop.name for hop in network.hops]


def _numbered(network: Network) -> list[int]:
    """The hops of data, then the hops of ACKs that differ from the hops of data."""
    crossed = list(dict.fromkeys(hop for routed in network.flows for hop in routed.forward))
    known = {_like(network.hops[hop]) for hop in crossed}
    back = dict.fromkeys(hop for routed in network.flows for hop in routed.reverse if hop not in crossed)
    return [*crossed, *(hop for hop in back if _like(network.hops[hop]) not in known)]


def _like(hop: Hop) -> object:
    loss = hop.loss if isinstance(hop, Link) else None
    return hop.limit_bps, hop.delay_s, str(hop.queue), str(loss)


def _labels(scenarios: Sequence[Scenario]) -> list[str]:
    """The name of every entry of `flows`, with its algorithms and the number of its flows."""
    labels, given = [], _given(scenarios)
    for entry, flow in enumerate(scenarios[0].flows):
        same = [one.flows[entry] for one in scenarios if len(one.flows) > entry]
        kinds = _either(algorithm_named(each.described) for each in same if each.described)
        counts = _range([each.count for each in same], str)
        name = given.group(flow.name) if flow.name else ""
        label = f"{name} ({kinds})" if name and kinds else name or kinds
        labels.append(f"{counts} x {label}" if counts != "1" else label)
    return labels


def _given(scenarios: Iterable[Scenario]) -> Labels:
    """Return the labels that users give."""
    return Labels({path: words for one in scenarios for path, words in one.labels.items()})


def _either(kinds: Iterable[str]) -> str:
    """The distinct elements of `kinds` in words.

    >>> _either(["cubic", "reno", "cubic"]), _either("abcdefg")
    ('cubic or reno', 'a, b, c, d and 3 more')
    """
    named = list(dict.fromkeys(kinds))
    more = len(named) - _MOST_NAMES
    return listed([*named[:_MOST_NAMES], f"{more} more"]) if more > 0 else " or ".join(named)


def _algorithms(scenarios: Sequence[Scenario]) -> list[str | None]:
    """Return the algorithm of every entry of `flows`; None for entries without an algorithm, or with
    several."""
    found: list[str | None] = []
    for entry, _ in enumerate(scenarios[0].flows):
        same = [one.flows[entry].cca for one in scenarios if len(one.flows) > entry]
        kinds = {None if cca is None else cca.kind for cca in same}
        found.append(kinds.pop() if len(kinds) == 1 else None)
    return found


def sources_of(scenarios: Iterable[Scenario]) -> list[tuple[str, str]]:
    """The algorithms of scenarios in words, each with its preset and the declared source of its laws.

    Sources are declared for the native engine. Algorithms of users have no entry.
    """
    used: dict[str, list[Mapping[str, Any]]] = {}
    for flow in (flow for one in scenarios for flow in one.flows if flow.cca):
        assert flow.cca is not None
        used.setdefault(flow.cca.kind, []).append(flow.cca.params)
    known = catalogue.controllers()
    return [
        (f"Algorithm {kind}", f"{_with_choices(known[kind], params)}; source: {known[kind].source}")
        for kind, params in used.items()
        if kind in known
    ]


def setup_of(scenarios: Iterable[Scenario], *, is_of_a_file: bool = False) -> str:
    """Return duration, warm-up, largest start jitter and segment size (MSS) of runs, in words.

    Where scenarios or flows differ, the text has the range. Files of measurements have only the duration and
    the warm-up.
    """
    distinct = list({one.digest: one for one in scenarios}.values())[:_MOST_SCENARIOS]
    if not distinct:
        return ""
    warmups = [one.warmup_s for one in distinct]
    text = _numbers([one.duration_s for one in distinct], _TIMES)
    text += f", {_numbers(warmups, _TIMES)} of them warm-up" if any(warmups) else ", without warm-up"
    if is_of_a_file:
        return text
    flows = [(one, flow) for one in distinct for flow in one.flows]
    jitters = [flow.start_jitter_s for _, flow in flows]
    sizes = [one.tcp_of(flow).mss_bytes for one, flow in flows if flow.datagrams is None]
    parts = [
        text,
        f"start jitter up to {_numbers([max(jitters)], _TIMES)}" if any(jitters) else "no start jitter",
    ]
    return "; ".join([*parts, *([f"MSS {_range(sizes, '{:,.0f}'.format)} B"] if sizes else [])])


def long_enough(runs: Sequence[Run]) -> str:
    """A sentence on the checks that runs without warnings pass: adaptation cycles, start-up and drift.

    Empty without bulk flows. Drift is checked with three or more seeds of recorded runs.
    """
    points: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        points.setdefault((run.meta.digest, run.engine.name), []).append(run)
    firsts = [of_point[0] for of_point in points.values()]
    shared = [len(bulk_names(run)) > 1 and waits_for_others(run) for run in firsts]
    found = [need(run, is_shared=is_shared) for run, is_shared in zip(firsts, shared, strict=True)]
    needs = [each for each in found if each and not each.is_short]
    if not needs:
        return ""
    least = min(needs, key=lambda each: each.cycles)
    measured = _numbers([each.measured_s for each in needs], _TIMES)
    early = max(each.early_s / each.measured_s for each in needs)
    told = f"at most {100 * early:.0f} % of the {measured} measured is start-up"
    if least.cycle_s:
        told = f"the {measured} measured have {int(least.cycles)} or more adaptation cycles of {least.cca}"
    has_drift = min(map(len, points.values())) >= FEWEST_SEEDS and not firsts[0].series.is_empty()
    drift = ", and tests found no drift of a goodput or RTT of bulk flows" if has_drift else ""
    return f"No warning on the length of runs: {told}{drift}."


_MADE = {
    "native": "simulated with fullpipe's native engine",
    "ns3": "simulated with ns-3",
    "linux": "run in a Linux kernel",
    "flent": "measured, from files of Flent",
    "pcap": "measured, from packet captures",
}
"""Origin of the runs of an engine, by the engine's name."""


def made_by(runs: Iterable[Run], otherwise: str = "") -> str:
    """Return in words which engines made runs, with the versions on which results depend.

    `otherwise` is the name of the engine if no run is available.
    """
    engines = dict.fromkeys(run.meta.engine for run in runs)
    known = [_made(each.name, each.version, each.model_version) for each in engines]
    return ", or ".join(dict.fromkeys(known or [_made(otherwise, "", "")] * bool(otherwise)))


def _made(name: str, version: str, model_version: str) -> str:
    """Return the origin of an engine's runs, with the engine's version.

    >>> _made("native", "0.1.0+5f1b", "10")
    "simulated with fullpipe's native engine, model version 10"
    """
    how = _MADE.get(name, f"run with the engine {name}")
    detail = {"flent": "", "pcap": "", "linux": version.partition("+")[0], "ns3": model_version}
    known = detail.get(name, f"model version {model_version}" if model_version else "")
    return f"{how}, {known}" if known else how


def _with_choices(entry: catalogue.Entry, used: Sequence[Mapping[str, Any]]) -> str:
    """The title of an algorithm and its preset. If it has no presets, its parameters with words as values
    follow instead, each with the values in use.

    The part of the title that lists these words, such as "(with HyStart or HyStart++)", is then left out.
    """
    words = [name for name, declared in entry.params.items() if isinstance(declared.default, str)]
    words = ["preset"] if "preset" in words else words
    told = [
        f"{name} {_either(str(params.get(name, entry.params[name].default)) for params in used)}"
        for name in words
    ]
    title = entry.title.partition(" (with ")[0] if words else entry.title
    return ", ".join([title, *told])


def _drawn(
    scenarios: Sequence[Scenario], network: Network, hops: Sequence[int], labels: Sequence[str]
) -> content.Path:
    """Return nodes, hops and routes, which refer to nodes by index, without the lines of text."""
    scenario = scenarios[0]
    laid = layout(network)
    names = _used(laid)
    number = {name: n for n, name in enumerate(names)}
    shift = min(laid.columns[name] for name in names)
    is_host = {node.name: node.kind == "host" for node in network.nodes}
    cells = {_edge(*edge) for medium in network.media for edge in air(network, medium.ports)}
    ends, given = _ends(network), _given(scenarios)
    looks = of_flows(_algorithms(scenarios))
    several, called = _several(scenarios), dict[str, str]()
    routes: dict[int, PathRoute] = {}
    for routed, route in zip(network.flows, laid.routes, strict=True):
        entry = next((n for n, flow in enumerate(scenario.flows) if flow is routed.flow), None)
        if entry is not None and entry not in routes:
            routes[entry] = PathRoute(labels[entry], looks[entry], [number[name] for name in route])
            called |= {route[0]: several[entry]} if entry in several else {}
    return content.Path(
        [
            PathNode(
                called.get(name) or given.group(_shown(name)),
                is_host[name],
                laid.columns[name] - shift,
                laid.places[name],
            )
            for name in names
        ],
        [
            PathHop(
                (number[a], number[b]) if {a, b} <= number.keys() else None, tuple(sorted((a, b))) in cells
            )
            for a, b in (ends[hop] for hop in hops)
        ],
        list(routes.values())[:_MOST_ROUTES],
        [],
    )


def _several(scenarios: Sequence[Scenario]) -> dict[int, str]:
    """For every named entry of `flows` with several flows: the number of its flows and its name."""
    found, given = dict[int, str](), _given(scenarios)
    for entry, flow in enumerate(scenarios[0].flows):
        counts = [one.flows[entry].count for one in scenarios if len(one.flows) > entry]
        if flow.name and max(counts) > 1:
            found[entry] = f"{_range(counts, str)} x {given.group(flow.name)}"
    return found


def _edge(a: str, b: str) -> tuple[str, ...]:
    """The key of a pair of nodes, the same for both directions."""
    return tuple(sorted((a, b)))


def _used(laid: Layout) -> list[str]:
    """The nodes that any data crosses."""
    return list(dict.fromkeys(name for route in laid.routes for name in route))


def _ends(network: Network) -> dict[int, tuple[str, str]]:
    """The nodes at the beginning and the end of every hop."""
    found: dict[int, tuple[str, str]] = {}
    for routed in network.flows:
        for way, last in ((routed.forward, routed.target), (routed.reverse, routed.source)):
            names = [*(begin(network.hops[hop]) for hop in way), last]
            for place, hop in enumerate(way):
                link = network.hops[hop]
                end = link.target if isinstance(link, Link) else names[place + 1]
                found.setdefault(hop, (names[place], end))
    return found


def _shown(name: str) -> str:
    """The name of a node. A sender has the name of its flow. Receivers and unnamed routers have an empty
    name."""
    if name.endswith("-receiver") or name in ("left", "right"):
        return ""
    return name.removesuffix("-sender")


def _hop(resolved: Sequence[tuple[Scenario, Network]], hop: int) -> str:
    """Return rate, delay, queue and loss of a hop over all scenarios, in words."""
    same = [network.hops[hop] for _, network in resolved]
    first = same[0]
    rates = [one.limit_bps for one in same]
    parts = [
        f"{_numbers([bps for bps in rates if bps], _RATES)}{_holds(first)}" if all(rates) else "no limit"
    ]
    if any(one.delay_s for one in same):
        parts.append(f"{_numbers([one.delay_s for one in same], _TIMES)} delay")
    parts.append(_queue(resolved, hop, same))
    parts.append(_loss([one.loss if isinstance(one, Link) else None for one in same]))
    return f"{first.name}: {', '.join(filter(None, parts))}"


def _holds(hop: Hop) -> str:
    """Return the condition under which the stated rate holds; empty if the rate always holds."""
    if not isinstance(hop, Link):
        return " of the cell at its best" if hop.rate_bps else ""
    if hop.frames or (hop.trace and hop.trace.kind == "mahimahi"):
        return " on average"
    return " at first" if rate_varies(hop) else ""


def _queue(resolved: Sequence[tuple[Scenario, Network]], hop: int, same: Sequence[Hop]) -> str:
    """Return the sizes of queues in words, in packets or bytes and as multiples of the bandwidth-delay
    product."""
    queues = [one.queue for one in same]
    if not all(queues):
        return "" if not any(queues) else "queue of several kinds"
    kinds = list(dict.fromkeys(queue.kind for queue in queues if queue))
    named = _either(kinds)
    limits = [limit for limit in map(_limit, queues) if limit]
    if len(kinds) > 1:
        of_kinds = ([n for n, queue in enumerate(queues) if queue and queue.kind == kind] for kind in kinds)
        told = [_queue([resolved[n] for n in of], hop, [same[n] for n in of]) for of in of_kinds]
        return f"queue {_either([text.removeprefix('queue ') for text in told])}"
    if len(limits) < len(queues):
        return f"queue {named}"
    packets, sizes = [packets for packets, _ in limits], [size for _, size in limits]
    if all(packets):
        text = f"{_range([count or 0 for count in packets], lambda count: f'{count:,.0f}')} packets"
    else:
        text = _numbers([size or 0 for size in sizes], _SIZES)
    bdps = [_bdp(network, hop) for _, network in resolved]
    if not all(bdps):
        return f"queue {named} {text}"
    sizes_bdp = [_declared_bdp(scenario, same[0].name) for scenario, _ in resolved]
    held = [
        declared or (size if count is None else count * _FULL_BYTES) / (bdp or 1.0)
        for count, size, bdp, declared in zip(packets, sizes, bdps, sizes_bdp, strict=True)
    ]
    return f"queue {named} {text} ({_range(held, lambda share: f'{share:.2g}')} BDP)"


def _declared_bdp(scenario: Scenario, name: str) -> float | None:
    """The size of a link's queue in bandwidth-delay products (BDP); None if the scenario does not give the
    size in BDP."""
    topology = scenario.topology
    links = {link.name: link for link in getattr(topology, "links", ())}
    link = links.get(name) or (getattr(topology, "bottleneck", None) if name == "bottleneck" else None)
    size: float | None = getattr(getattr(link, "queue", None), "size_bdp", None)
    return size


def _limit(queue: DropTail | Discipline | None) -> tuple[float | None, float] | None:
    """The limit in packets (None if it is in bytes only) and the limit in bytes (0 without one); None if the
    queue has no single limit in packets or bytes."""
    if isinstance(queue, DropTail):
        return queue.packets, float(queue.limit_bytes or 0)
    packets = queue.params.get("limit") if queue else None
    return (packets, 0.0) if isinstance(packets, int) else None


def _bdp(network: Network, hop: int) -> float | None:
    """Bandwidth-delay product of a hop in bytes, for the longest base RTT of the flows that cross the hop."""
    rate = network.hops[hop].limit_bps
    rtts = [
        network.base_rtt_s(routed)
        for routed in network.flows
        if hop in routed.forward or hop in routed.reverse
    ]
    return rate * max(rtts) / BITS if rate and rtts and max(rtts) else None


def _loss(losses: Sequence[Loss | None]) -> str:
    """The loss of a link, without the drops of its queue."""
    if not any(losses):
        return ""
    if all(loss is None or loss.kind == "bernoulli" for loss in losses):
        shares = [100 * loss.probability if loss else 0.0 for loss in losses]
        return f"loss {_range(shares, lambda share: f'{share:g}')} %" if any(shares) else ""
    return f"loss {_either('none' if loss is None else loss.kind for loss in losses)}"


def _round_trip(networks: Sequence[Network]) -> str:
    """Base RTTs of all flows."""
    rtts = [network.base_rtt_s(routed) for network in networks for routed in network.flows]
    return f"Base RTT: {_numbers(rtts, _TIMES)}, without serialisation"


def _numbers(values: Sequence[float], units: _Units) -> str:
    """Quantities in the largest unit in which the largest quantity is at least 1."""
    most = max(values)
    scale, unit = next((each for each in units if most >= each[0]), units[-1])
    return f"{_range(values, lambda value: f'{value / scale:.4g}')} {unit}"


def _range(values: Sequence[float], text: Callable[[float], str]) -> str:
    """A single value, or the smallest and the largest value.

    >>> _range([0.5, 8, 1], lambda value: f"{value:g}")
    '0.5 to 8'
    """
    return " to ".join(dict.fromkeys((text(min(values)), text(max(values)))))
