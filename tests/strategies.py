"""Hypothesis strategies of scenarios: everything that one can say, as the tree that a TOML file holds.

`Span` says how large quantities are: any that a file may hold, or such that a run takes no time. Files that a
scenario names are written into a folder that the test gives.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fullpipe.scenario import catalogue
from fullpipe.scenario.quantities import DURATION, RATE, SIZE

Tree = st.SearchStrategy[dict[str, Any]]
Text = st.SearchStrategy[str]
MS, S = 10**6, 10**9
NAMES = st.text("abcxyz019_-. ", min_size=1, max_size=12)


def quantity(dimension: Any, low: int, high: int) -> Text:
    """A quantity in base units (bytes, bit/s, nanoseconds), as text."""
    return st.integers(low, high).map(dimension.format)


def table(optional: dict[str, Any] | None = None, /, **values: Any) -> Tree:
    """A table: keys that are always there, and keys that may be; values are strategies or plain."""
    always, maybe = ({k: _strategy(v) for k, v in part.items()} for part in (values, optional or {}))
    return st.fixed_dictionaries(always, optional=maybe)


def _strategy(value: Any) -> Any:
    return value if isinstance(value, st.SearchStrategy) else st.just(value)


def times(low: int, high: int) -> Text:
    """A duration between two numbers of nanoseconds."""
    return quantity(DURATION, low, high)


def sizes(low: int, high: int) -> Text:
    """A size between two numbers of bytes."""
    return quantity(SIZE, low, high)


@dataclass(frozen=True)
class Span:
    """How large things may be."""

    rate_bps: tuple[int, int]
    delay_ns: tuple[int, int]
    duration_ns: tuple[int, int]
    size_bytes: int
    params: bool
    """Whether numbers among parameters may be anything in their range."""

    @property
    def rates(self) -> Text:
        """Rates of links."""
        return quantity(RATE, *self.rate_bps)

    @property
    def delays(self) -> Text:
        """Propagation delays of links."""
        return times(*self.delay_ns)

    @property
    def moments(self) -> Text:
        """Times before the end of every run."""
        return times(0, self.duration_ns[0] // 4)

    @property
    def steps(self) -> Text:
        """Times between changes, of which a run holds a hundred."""
        return times(self.duration_ns[1] // 100, self.duration_ns[1])


ANY = Span((1, 10**10), (1, S), (10 * S, 1000 * S), 2**40, params=True)
SMALL = Span((500_000, 20_000_000), (10_000, 30 * MS), (2 * S, 3 * S), 60_000, params=False)

PROBABILITIES = st.floats(0, 1)
COUNTS = st.integers(1, 1_000)


def chosen(entries: dict[str, catalogue.Entry], span: Span) -> Tree:
    """An algorithm or a queue of the registry with some of its parameters."""
    each = {name: _entry(entry, span) for name, entry in entries.items()}  # built once, not per example
    return st.sampled_from(sorted(entries)).flatmap(each.__getitem__)


def _entry(entry: catalogue.Entry, span: Span) -> Tree:
    values = {name: _values(param) for name, param in entry.params.items()}
    kept = {
        name: value
        for name, value in values.items()
        if value is not None and (span.params or entry.params[name].kind not in ("whole", "number"))
    }
    return table(kept, kind=entry.name)


def _values(param: catalogue.Param) -> Any:
    match param.kind:
        case "switch":
            return st.booleans()
        case "choice":
            return st.sampled_from(param.choices)
        case "whole" if param.min is not None and param.max is not None:
            return st.integers(int(param.min), int(min(param.max, 2**53)))
        case "number" if param.min is not None and param.max is not None:
            return st.floats(param.min, min(param.max, 1e15))
    return None


def queues(span: Span) -> Tree:
    """Drop-tail with each of its limits, and every discipline of the registry."""
    packets = st.integers(1, 10**6 if span.params else 60)
    relative = st.floats(0.01, 100).map("{:.17g} bdp".format)
    # A threshold above another one is refused.
    others = chosen({k: v for k, v in catalogue.queues().items() if k not in ("drop_tail", "red")}, span)
    return st.one_of(
        table(kind="drop_tail", packets=packets),
        table(kind="drop_tail", bytes=sizes(1 if span.params else 3_000, span.size_bytes)),
        table(kind="drop_tail", size=relative),
        table({"limit": st.integers(10_000, 10**6)}, kind="red", ecn=st.booleans()),
        table(kind=st.sampled_from(["codel", "fq_codel", "pie", "fq_pie", "dualpi2"]), size=relative),
        others,
    )


def losses(folder: Path) -> Tree:
    """Every model of loss."""
    numbers = st.lists(st.integers(0, 1_000), max_size=8, unique=True).map(sorted)
    files = st.text("01 \n", min_size=1, max_size=40).map(lambda text: f"0{text}")
    return st.one_of(
        table(kind="bernoulli", probability=PROBABILITIES),
        table(kind="periodic", every=COUNTS),
        table(
            {"bad": PROBABILITIES, "good": PROBABILITIES},
            kind="gilbert_elliott",
            worsens=PROBABILITIES,
            improves=PROBABILITIES,
        ),
        table({"period": st.integers(1_001, 5_000)}, kind="replay", packets=numbers),
        table({"repeat": st.booleans()}, kind="replay", file=files.map(lambda text: written(folder, text))),
    )


def written(folder: Path, text: str) -> str:
    """The path of a file that holds a text."""
    path = folder / hashlib.sha256(text.encode()).hexdigest()[:16]
    path.write_text(text, encoding="utf-8")
    return str(path)


def services(span: Span, folder: Path) -> Tree:
    """What a link has in place of a rate, or beside it."""
    milliseconds = st.lists(st.integers(1, 200), min_size=1, max_size=40).map(sorted)
    lines = milliseconds.map(lambda found: "".join(f"{ms}\n" for ms in found))
    rows = st.lists(st.integers(*span.rate_bps), min_size=2, max_size=8)
    csv = rows.map(lambda rates: "time_s,rate_bps\n" + "".join(f"{i},{r}\n" for i, r in enumerate(rates)))
    recorded = table(
        {"offset": times(0, S), "opportunity": sizes(500, 10_000)},
        file=lines.map(lambda t: written(folder, t)),
    )
    stepped = table({"offset": times(0, S)}, kind="csv", file=csv.map(lambda t: written(folder, t)))
    frames = table(every=times(MS, 100 * MS), size=sizes(1_500, 10**6))
    return st.one_of(
        table(rate=span.rates), table(trace=recorded), table(trace=stepped), table(frames=frames)
    )


def states(span: Span) -> Tree:
    """What a link becomes, known from its beginning on."""
    return table(rate=span.rates, delay=span.delays)


def shapes(span: Span) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Every shape, none or one of each."""
    state, many = states(span), st.lists(states(span), min_size=2, max_size=4)
    waves = [
        table(kind="wave", at=span.moments, shape=shape, period=span.steps, low=state, high=state, **step)
        for shape, step in (
            ("square", {}),
            *((name, {"step": span.steps}) for name in ("sine", "triangle", "sawtooth")),
        )
    ]
    each = [
        table({"from": state}, kind="ramp", at=span.moments, over=span.steps, step=span.steps, to=state),
        table({"every": times(2 * S, 9 * S)}, kind="spike", at=span.moments, lasts=times(1, S), to=state),
        table(kind="cycle", at=span.moments, every=span.steps, states=many),
        *waves,
        table({"neighbours": st.booleans()}, kind="wander", at=span.moments, mean=span.steps, states=many),
    ]
    return st.lists(st.integers(0, len(each) - 1), max_size=3, unique=True).flatmap(
        lambda picked: st.tuples(*(each[i] for i in picked)).map(list)
    )


def links(span: Span, folder: Path) -> Tree:
    """A link with everything that it may do to packets."""
    changes = st.lists(table({"loss": losses(folder)}, rate=span.rates, delay=span.delays), max_size=3)
    delays = times(1, 20 * MS)
    shape = st.sampled_from(["uniform", "normal"])
    recorded = st.lists(st.integers(0, 20), min_size=1, max_size=9)
    others: dict[str, Any] = {
        "queue": queues(span),
        "loss": losses(folder),
        "duplicate": PROBABILITIES,
        "ack_filter": st.integers(2, 100),
        "aggregation": delays,
        "reordering": table({"from": span.moments}, every=COUNTS, extra=delays),
        "jitter": table({"shape": shape, "reorder": st.booleans()}, spread=delays),
        "wifi_jitter": times(MS, 91 * MS),
        "recorded_jitter": table(
            {"draw": st.sampled_from(["listed", "interpolated"]), "reorder": st.booleans()},
            file=recorded.map(lambda lines: written(folder, "\n".join(map(str, lines)))),
        ),
    }
    plain = st.tuples(services(span, folder), table(others, delay=span.delays))
    fixed = plain.map(lambda both: both[0] | both[1])
    changing = table(
        {
            **others,
            "shapes": shapes(span),
            "changes": changes.map(in_order),
            "device_queue": table(packets=st.integers(1, 200)),
        },
        rate=span.rates,
        delay=span.delays,
    )
    return fixed | changing


def in_order(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Changes one tenth of a second apart."""
    return [{"at": f"{100 * n} ms", **change} for n, change in enumerate(changes, start=1)]


def transports(span: Span) -> Tree:
    """The transport, its buffers large enough for every segment."""
    return table(
        {
            "mss": sizes(100, 9_000),
            "timestamps": st.booleans(),
            "link_overhead": sizes(0, 100),
            "ack_every": st.integers(1, 100),
            "sack_compression": st.booleans(),
            "initial_window": st.integers(1, 100),
            "send_buffer": sizes(9_000, 2**30),
            "receive_buffer": sizes(9_000, 2**30),
            "host": st.sampled_from(["linux", "linux-defaults", "ns3-like"]),
            "send_memory": sizes(9_000, 2**22),
            "send_memory_most": sizes(2**22, 2**30),
            "receive_memory": sizes(9_000, 2**25),
            "receive_memory_most": sizes(2**25, 2**30),
            "packet_memory": sizes(0, 10_000),
            "pacing": st.sampled_from(["auto", "always", "fq"]),
            "max_burst": st.just("off") | sizes(1, 2**24),
            "min_burst": st.integers(1, 64),
            "gro": st.just("50 us"),
            "ecn": st.booleans() | st.just("accecn"),
            "loss_detection": st.sampled_from(["rack", "dupack"]),
            "min_rto": st.sampled_from(["1 ms", "1 s"]),
            "tail_loss_probe": st.booleans(),
            "undo": st.booleans(),
            "rate_sample": st.sampled_from(["linux", "ns3_3.40"]),
            "invalid_rate_samples": st.sampled_from(["discarded", "repeated"]),
            "rescue_retransmit": st.sampled_from(["none", "rfc6675", "unbounded"]),
            "full_send_buffer": st.sampled_from(["app_limited", "network_limited"]),
            "idle_application": st.sampled_from(["app_limited", "network_limited"]),
            "prr": st.sampled_from(["rfc9937", "ns3"]),
            "lost_in_flight": st.sampled_from(["counted", "shifted"]),
            "accecn_option": st.booleans(),
        }
    )


def distributions() -> Any:
    """Sizes of transfers."""
    size = sizes(1, 100_000)
    return st.one_of(
        size,
        st.sampled_from(["web_search", "data_mining"]),
        table(kind="exponential", mean=size),
        table(kind="lognormal", mean=size, sigma=st.floats(0, 2)),
        table(kind="pareto", shape=st.floats(0.5, 3), min=sizes(1, 1_000), max=sizes(1_000, 10**6)),
        table(kind="cdf", points=st.just([["1 kB", 0.5], ["30 kB", 1.0]])),
    )


def pauses() -> Any:
    """Pauses of those who fetch, long enough that a run has few."""
    return times(100 * MS, 10 * S) | table(kind="exponential", mean=times(100 * MS, 10 * S))


def fetching() -> Tree:
    """Workloads that open connections."""
    chunk = {"chunk": times(100 * MS, S), "startup": times(0, S), "buffer": times(S, 9 * S)}
    return st.one_of(
        table(kind="poisson", sizes=distributions(), interval=times(50 * MS, S)),
        table(kind="poisson", sizes=sizes(10_000, 50_000), load=st.floats(0.01, 1), of="5 Mbit/s"),
        table({"keep": st.booleans()}, kind="periodic", sizes=sizes(1, 50_000), interval=times(50 * MS, S)),
        table(
            {"request": sizes(1, 5_000)}, kind="request_response", response=distributions(), think=pauses()
        ),
        table(
            {"objects": st.integers(1, 20), "sizes": distributions(), "connections": st.integers(1, 8)},
            kind="web",
            think=pauses(),
        ),
        table({**chunk, "rule": st.sampled_from(["rate", "buffer"])}, kind="video").filter(_fits),
    )


def _fits(video: dict[str, Any]) -> bool:
    """Pieces fit into the buffer, which holds 30 s if nothing is said; by default they last 4 s, as the start
    does."""
    return "buffer" not in video or {"chunk", "startup"} <= video.keys()


def writing(span: Span) -> Tree:
    """Workloads that write into one connection."""
    values = {"write": sizes(1, 9_000), "when_full": st.sampled_from(["block", "drop"])}
    periods = st.sampled_from(["constant", "exponential"])
    on_off = table(
        {**values, "periods": periods}, kind="on_off", rate=span.rates, on=span.steps, off=span.steps
    )
    return on_off | table(values, kind="cbr", rate=span.rates) | table(kind="bulk")


def datagrams() -> Tree:
    """Workloads of datagrams."""
    rate, interval = quantity(RATE, 1_000, 3_000_000), times(5 * MS, S)
    size, spacing = sizes(200, 9_000), st.sampled_from(["constant", "poisson"])
    return st.one_of(
        table({"spacing": spacing, "size": size}, kind="udp", rate=rate),
        table(
            {"periods": st.sampled_from(["constant", "exponential"])},
            kind="udp",
            rate=rate,
            on=times(100 * MS, S),
            off=times(0, S),
        ),
        table({"payload": sizes(200, 9_000 - 12)}, kind="voip", frame=interval),
        table({"size": size}, kind="ping", interval=interval),
        table({"size": size, "round_trip": st.booleans()}, kind="probe", interval=interval),
    )


def flows(span: Span, more: dict[str, Any], **ends: Any) -> Tree:
    """A flow of any kind; `more` may be said of it, and `ends` is."""
    start = {
        "count": st.integers(1, 5 if span.params else 2),
        "start": span.moments,
        "start_jitter": span.moments,
        "dscp": st.integers(0, 63) | st.sampled_from(["ef", "cs1", "af41"]),
        **more,
    }
    cca = st.sampled_from(["reno", "cubic", "bbr"]) | chosen(catalogue.controllers(), span)
    stop = {"stop": times(span.duration_ns[0] // 2 + 1, span.duration_ns[0])}
    tcp = {**start, "tcp": transports(span)}
    paces = st.lists(table({"rate": quantity(RATE, 0, 10**7)}), max_size=3).map(in_order)
    buffers = table(send_buffer=sizes(9_000, 100_000))
    return st.one_of(
        table({**tcp, **stop, "size": sizes(1, span.size_bytes)}, cca=cca, **ends),
        table({**tcp, **stop}, cca=cca, application=paces, **ends),
        table({**tcp, **stop}, cca=cca, workload=fetching(), **ends),
        table({**start, **stop}, cca=cca, workload=writing(span), tcp=buffers, **ends),
        table({**start, **stop}, workload=datagrams(), **ends),
    )


def dumbbells(span: Span, folder: Path) -> Tree:
    """A dumbbell and flows through it, in both directions."""
    link = links(span, folder)
    access = table({"rate": span.rates, "delay": span.delays, "queue": table(kind="fq_codel", limit=100)})
    hosts = st.sampled_from([["a", "x"], ["a", "y"], ["b", "x"]])
    more = {"direction": st.sampled_from(["forward", "reverse"]), "hosts": hosts, "access": access}
    topology = table({"reverse": link, "access": access}, kind="dumbbell", bottleneck=link)
    return table(topology=topology, flows=st.lists(flows(span, more), min_size=1, max_size=3))


def graphs(span: Span, folder: Path) -> Tree:
    """A ring of three to five nodes, so that everything has two routes, and flows across it."""
    each = {size: _ring([f"n{i}" for i in range(size)], span, folder) for size in range(3, 6)}
    return st.integers(3, 5).flatmap(each.__getitem__)


def _ring(nodes: list[str], span: Span, folder: Path) -> Tree:
    between = [node for node in nodes if node not in ("n0", "n1")]
    ways = st.sampled_from(["both", "data", "acks"])
    over = st.sampled_from(between).map(lambda node: [node])
    changes = table({"ways": ways}, via=over | st.just([])).map(lambda change: [{"at": "300 ms", **change}])
    moving = st.one_of(
        st.just({}),
        table(reroutes=changes),
        table(alternate=table({"ways": ways}, every=span.steps, via=st.lists(over, min_size=1, max_size=2))),
    )
    ring = zip(nodes, [*nodes[1:], nodes[0]], strict=True)
    link = links(span, folder)
    edges = [table(**{"from": a, "to": b}, duplex=True, link=link).map(_flattened) for a, b in ring]
    ends = {"from": "n0", "to": "n1"}
    flow = st.tuples(flows(span, {"via": over}, **ends), moving).map(lambda both: both[0] | both[1])
    made = st.tuples(moving, *edges).map(lambda drawn: [drawn[1] | drawn[0], *drawn[2:]])
    topology = table(kind="graph", nodes=st.just(nodes), links=made)
    return table(topology=topology, flows=st.lists(flow, min_size=1, max_size=2))


def _flattened(edge: dict[str, Any]) -> dict[str, Any]:
    """The ends of a link, and what it is like."""
    link = edge.pop("link")
    return {**edge, **link}


@cache
def scenarios(span: Span, folder: Path) -> Tree:
    """Any network, and what is said of the whole."""
    record = table({"interval": st.just("off") | times(S, 5 * S), "packets": st.just(["sender"])})
    whole = table(
        {"warmup": span.moments, "tcp": transports(span), "record": record},
        name=NAMES,
        duration=times(*span.duration_ns),
    )
    networks = dumbbells(span, folder) | graphs(span, folder)
    return st.tuples(whole, networks).map(lambda both: both[0] | both[1])
