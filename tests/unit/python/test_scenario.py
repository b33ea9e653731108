"""Scenarios: defaults, round trips, digests, other values, sweeps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import Scenario, ScenarioError, UnknownNameError
from fullpipe.scenario import scenario_names
from fullpipe.scenario.quantities import DURATION, RATE, SIZE

NAMES = st.text("abcxyz019_-. ", min_size=1, max_size=12)


def quantity(dimension: Any, low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map(dimension.format)


def maybe(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=values)


QUEUES = st.one_of(
    st.fixed_dictionaries({"kind": st.just("drop_tail"), "packets": st.integers(1, 10**6)}),
    st.fixed_dictionaries({"kind": st.just("drop_tail"), "bytes": quantity(SIZE, 1, 2**40)}),
    st.fixed_dictionaries(
        {"kind": st.just("drop_tail"), "size": st.floats(0.01, 100).map("{:.17g} bdp".format)}
    ),
)
LOSSES = st.fixed_dictionaries({"kind": st.just("bernoulli"), "probability": st.floats(0, 1)})
ACCESS = maybe(
    rate=quantity(RATE, 1, 10**12),
    delay=quantity(DURATION, 0, 10**9),
    queue=st.just({"kind": "fq_codel", "limit": 100}),
)
BOTTLENECKS = st.fixed_dictionaries(
    {"rate": quantity(RATE, 1, 10**10), "delay": quantity(DURATION, 1, 10**9)},
    optional={"queue": QUEUES, "loss": LOSSES},
)
TCPS = maybe(
    mss=quantity(SIZE, 100, 9000),
    timestamps=st.booleans(),
    link_overhead=quantity(SIZE, 0, 100),
    ack_every=st.integers(1, 100),
    initial_window=st.integers(1, 100),
    send_buffer=quantity(SIZE, 9000, 2**30),
    pacing=st.sampled_from(["auto", "always", "fq"]),
    max_burst=st.one_of(st.just("off"), quantity(SIZE, 1, 2**24)),
    min_burst=st.integers(1, 64),
    gro=st.just("50 us"),
    ecn=st.booleans() | st.just("accecn"),
)
FLOWS = st.fixed_dictionaries(
    {"cca": st.sampled_from(["reno", "cubic", "bbr1", "bbr", {"kind": "reno", "beta": 0.7}])},
    optional={
        "count": st.integers(1, 5),
        "start": quantity(DURATION, 0, 10**9),
        "start_jitter": quantity(DURATION, 0, 10**9),
        "size": quantity(SIZE, 1, 2**40),
        "access": ACCESS,
        "tcp": TCPS,
    },
)
SCENARIOS = st.fixed_dictionaries(
    {
        "name": NAMES,
        "duration": quantity(DURATION, 10 * 10**9, 1000 * 10**9),
        "topology": st.fixed_dictionaries(
            {"kind": st.just("dumbbell"), "bottleneck": BOTTLENECKS},
            optional={
                "access": ACCESS,
                "reverse": BOTTLENECKS,
            },
        ),
        "flows": st.lists(FLOWS, min_size=1, max_size=3),
    },
    optional={
        "warmup": quantity(DURATION, 0, 9 * 10**9),
        "tcp": TCPS,
        "record": maybe(interval=st.one_of(st.just("off"), quantity(DURATION, 10**7, 10**9))),
        "sweep": st.just({"flows.0.cca": ["cubic", "reno"], "topology.bottleneck.delay": ["1 ms", "2 ms"]}),
    },
)


@given(SCENARIOS)
def test_toml_out_and_in_is_the_identity(tree: dict[str, Any]) -> None:
    scenario = Scenario(**tree)
    assert Scenario.from_toml(scenario.to_toml()) == scenario


@given(SCENARIOS)
def test_toml_out_and_in_keeps_the_digest(tree: dict[str, Any]) -> None:
    scenario = Scenario(**tree)
    assert Scenario.from_toml(scenario.to_toml()).digest == scenario.digest


@pytest.mark.parametrize("name", scenario_names())
def test_named_scenarios_are_scenarios_of_that_name(name: str) -> None:
    assert Scenario.named(name).name == name


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match='did you mean "kato2025"'):
        Scenario.named("kato2024")


def test_defaults_are_linux_on_ethernet(small: Scenario) -> None:
    assert (small.tcp.segment_bytes, small.tcp.overhead_bytes) == (1514, 66)


def test_a_flow_overrides_the_transport_only_where_it_says_so(small: Scenario) -> None:
    scenario = small.with_values({"tcp.mss": "1000 B", "tcp.ecn": True, "flows.0.tcp.mss": "500 B"})
    tcp = scenario.tcp_of(scenario.flows[0])
    assert (tcp.mss_bytes, tcp.ecn) == (500, True)


def test_an_alias_becomes_the_name_it_stands_for(small: Scenario) -> None:
    assert small.with_values({"flows.0.cca": "bbr"}).flows[0].cca.kind == "bbr1"


def test_the_digest_is_the_same_for_another_spelling(small: Scenario) -> None:
    assert small.with_values({"topology.bottleneck.rate": "10000 kbit/s"}).digest == small.digest


def test_the_digest_is_the_same_for_another_name(small: Scenario) -> None:
    assert small.with_values({"name": "other"}).digest == small.digest


def test_the_digest_is_the_same_for_a_default_written_out(small: Scenario) -> None:
    assert small.with_values({"tcp.mss": "1448 B"}).digest == small.digest


def test_the_digest_is_the_same_for_a_transport_set_at_the_flow(small: Scenario) -> None:
    everywhere, at_flow = small.with_values({"tcp.ecn": True}), small.with_values({"flows.0.tcp.ecn": True})
    assert everywhere.digest == at_flow.digest


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("duration", "2 s"),
        ("topology.bottleneck.queue.packets", 21),
        ("tcp.mss", "1000 B"),
        ("flows.0.cca", "reno"),
        ("flows.0.cca.beta", 0.5),
        ("flows.0.count", 2),
        ("record.interval", "off"),
    ],
)
def test_the_digest_differs_for_another_value(small: Scenario, path: str, value: object) -> None:
    assert small.with_values({path: value}).digest != small.digest


def test_the_digest_stands_still() -> None:
    """A change here makes every stored run useless: only on purpose."""
    assert Scenario.named("single-reno").digest == "a137b039ba9e701a"


def test_the_last_swept_path_changes_fastest(small: Scenario) -> None:
    scenario = small.with_values({"sweep": {"flows.0.cca": ["cubic", "reno"], "flows.0.count": [1, 2]}})
    found = [(s.flows[0].cca.kind, s.flows[0].count) for s in scenario.expand()]
    assert found == [("cubic", 1), ("cubic", 2), ("reno", 1), ("reno", 2)]


def test_expanded_scenarios_are_swept_no_more() -> None:
    assert [s.sweep for s in Scenario.named("kato2025").expand()] == [{}] * 5


@pytest.mark.parametrize("path", ["topology.bottleneck.queue.packets", " topology.bottleneck.queue.packets "])
def test_another_value_pins_a_swept_path(path: str) -> None:
    scenario = Scenario.named("kato2025").with_values({path: 7})
    assert [s.to_dict()["topology"]["bottleneck"]["queue"]["packets"] for s in scenario.expand()] == [7]


def test_another_table_pins_the_swept_paths_within_it() -> None:
    queue = {"kind": "drop_tail", "size": "1 bdp"}
    assert Scenario.named("kato2025").with_values({"topology.bottleneck.queue": queue}).sweep == {}


def test_a_parameter_of_an_algorithm_turns_its_name_into_a_table(small: Scenario) -> None:
    assert small.with_values({"flows[0].cca.beta": 0.5}).to_dict()["flows"][0]["cca"] == {
        "kind": "cubic",
        "beta": 0.5,
    }


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("flows.1.cca", "flows.1.cca: there is no number 1; the list has 1, counted from 0"),
        ("flows.cca", 'flows.cca: "cca" stands where a number belongs, as in flows.0.cca'),
        ("name.x", 'name.x: "name" is a single value and has no parts'),
        ("", '"": not a path; write it as in topology.bottleneck.rate'),
        ("tcp.msss", 'tcp.msss: unknown key; did you mean "mss"?'),
    ],
)
def test_a_wrong_path_is_refused(small: Scenario, path: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        small.with_values({path: "1448 B"})
    assert error.value.problems == (message,)


def test_a_scenario_is_frozen(small: Scenario) -> None:
    with pytest.raises(ValueError, match="frozen"):
        small.name = "other"


def test_a_value_inside_a_swept_one_is_refused(small: Scenario) -> None:
    swept = small.with_values({"sweep": {"flows.0.cca": ["bbr1", "cubic"]}})
    with pytest.raises(
        ScenarioError, match=r"flows\.0\.cca\.beta: the scenario sweeps flows\.0\.cca as a whole"
    ):
        swept.with_values({"flows.0.cca.beta": 0.5})
