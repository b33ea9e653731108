"""Scenarios: defaults, digests, other values, sweeps."""

import json

import pytest

from fullpipe import Scenario, ScenarioError, UnknownNameError
from fullpipe.scenario import scenario_names


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


@pytest.mark.parametrize("name", ["all flows", "all downloads", "all uploads"])
def test_a_flow_cannot_have_the_name_of_a_total(small: Scenario, name: str) -> None:
    told = rf'^flows\[0\]\.name: "{name}" is the name of a total; choose another name$'
    with pytest.raises(ScenarioError, match=told):
        small.with_values({"flows.0.name": name})


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
        ("flows.1.cca", "flows.1.cca: there is no entry 1; the list has 1, counted from 0"),
        ("flows.cca", 'flows.cca: "cca" is not a number; write the index of the entry, as in flows.0.cca'),
        ("cca", "cca: unknown key; did you mean flows.0.cca?"),
        ("name.x", 'name.x: "name" is a single value and has no parts'),
        ("", '"": not a path; write it as in topology.bottleneck.rate'),
        ("tcp.msss", 'tcp.msss: unknown key; did you mean "mss"?'),
    ],
)
def test_a_wrong_path_is_refused(small: Scenario, path: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        small.with_values({path: "1448 B"})
    assert error.value.problems == (message,)


def test_the_name_of_an_entry_leads_to_its_index(small: Scenario) -> None:
    named = small.with_values({"flows.0.name": "mine"})
    with pytest.raises(ScenarioError, match=r'"mine" is the name of entry 0; write flows\.0\.cca$'):
        named.with_values({"flows.mine.cca": "reno"})


def test_a_scenario_is_frozen(small: Scenario) -> None:
    with pytest.raises(ValueError, match="frozen"):
        small.name = "other"


def test_a_value_inside_a_swept_one_is_refused(small: Scenario) -> None:
    swept = small.with_values({"sweep": {"flows.0.cca": ["bbr1", "cubic"]}})
    with pytest.raises(
        ScenarioError, match=r"flows\.0\.cca\.beta: the scenario sweeps flows\.0\.cca as a whole"
    ):
        swept.with_values({"flows.0.cca.beta": 0.5})


def test_a_part_of_a_part_is_dumped(small: Scenario) -> None:
    link = small.topology.bottleneck
    rate_bps = {"topology": {"bottleneck": {"rate_bps": link.rate_bps}}}
    assert small.model_dump(include={"topology": {"bottleneck": {"rate_bps"}}}) == rate_bps
    others = small.model_dump(exclude={"topology": {"bottleneck": {"rate_bps"}}})["topology"]["bottleneck"]
    assert set(link.model_dump()) - set(others) == {"rate_bps"}


def test_the_json_schema_of_the_model_has_every_part() -> None:
    schema = json.dumps(Scenario.model_json_schema())
    for part in ("rate_bps", "gilbert_elliott", "duplicate", "lte", "satellites", "request_response"):
        assert part in schema
