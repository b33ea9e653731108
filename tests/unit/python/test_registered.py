"""Parameters are declared in Rust alone; the models, their checks, their spelling and the plan follow."""

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.scenario.catalogue import FORMER_KEYS, Entry, Param, families, family
from fullpipe.scenario.documented import documented
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.registered import field_name, registered
from fullpipe.scenario.model.tcp import Tcp

OPTIONS = family("transport")["tcp"].params


@pytest.mark.parametrize("param", OPTIONS.values(), ids=OPTIONS)
def test_an_option_is_a_key_with_its_default_and_documentation(param: Param) -> None:
    field = documented(Tcp)[field_name(param)]
    assert (field.alias or field_name(param)) == param.name
    assert field.description == " ".join(param.doc.split())


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("mss", "0 B"),
        ("mss", "9001 B"),
        ("delayed_ack_timeout", "0 s"),
        ("delayed_ack_timeout", "10.000000001 s"),
        ("min_rto", "999 us"),
        ("initial_window", 0),
        ("ack_every", True),
        ("ecn", "on"),
        ("prr", "rfc6937"),
        ("timestamps", 1),
    ],
)
def test_ranges_and_names_are_those_of_the_declaration(small: Scenario, key: str, wrong: object) -> None:
    with pytest.raises(ScenarioError, match=rf"^tcp\.{key}: "):
        small.with_values({f"tcp.{key}": wrong})


@pytest.mark.parametrize("kind", ["text", "list", ""])
def test_a_kind_without_a_field_is_refused(kind: str) -> None:
    entry = Entry("tcp", "", "", (), {"share": Param("share", 0.5, "", "A share.", 0, 1, kind)})
    with pytest.raises(TypeError, match=r"^share: "):
        registered(entry)(Model)


@pytest.mark.parametrize(
    ("memory", "lines"),
    [
        ({"send_memory_most": "4096 B"}, ["tcp.send_memory_most: 4096 B is less than one segment, 9000 B"]),
        (
            {"send_buffer": "1 kB", "receive_memory_most": "8 KiB"},
            [
                "tcp.send_buffer: 1000 B is less than one segment, 9000 B",
                "tcp.receive_memory_most: 8192 B is less than one segment, 9000 B",
            ],
        ),
    ],
)
def test_every_small_buffer_is_refused_by_its_key(
    small: Scenario, memory: dict[str, str], lines: list[str]
) -> None:
    with pytest.raises(ScenarioError) as refused:
        small.with_values({"tcp": {"mss": "9000 B", **memory}})
    assert list(refused.value.problems) == lines


def queue(small: Scenario, **params: object) -> Scenario:
    return small.with_values({"topology.bottleneck.queue": {"kind": "codel", **params}})


def test_a_quantity_of_a_queue_is_text_with_a_unit(small: Scenario) -> None:
    written = queue(small, target="20 ms", ce_threshold="500 us")
    assert written.to_dict()["topology"]["bottleneck"]["queue"] == {
        "kind": "codel",
        "target": "20 ms",
        "ce_threshold": "500 us",
    }
    assert written == queue(small, target_ms=20, ce_threshold_ms=0.5)


@pytest.mark.parametrize("target", [5, 5.0])
def test_a_bare_number_with_the_unit_in_its_key_is_read(small: Scenario, target: float) -> None:
    bare = queue(small, target_ms=target)
    assert bare.digest == queue(small, target="5 ms").digest
    assert Scenario.from_toml(bare.to_toml()).digest == bare.digest


def test_a_number_that_is_too_large_as_text_is_written_with_the_unit_in_its_key(small: Scenario) -> None:
    cca = {"kind": "ad_bbr", "history_s": 100_000.0}
    written = small.with_values({"flows.0.cca": cca})
    assert written.to_dict()["flows"][0]["cca"] == {"kind": "ad_bbr", "history_s": 100_000}
    assert Scenario.from_toml(written.to_toml()).digest == written.digest


def test_another_spelling_takes_the_place_of_the_first(small: Scenario) -> None:
    changed = queue(small, target="5 ms").with_values({"topology.bottleneck.queue.target_ms": 7})
    assert changed == queue(small, target="7 ms")


@pytest.mark.parametrize(
    ("swept", "key", "value", "left"),
    [
        ({"queue.target_ms": [1, 2]}, "queue.target", "9 ms", []),
        ({"queue.target": ["1 ms", "2 ms"]}, "queue.target_ms", 9, []),
        ({FORMER_KEYS["ack_filter"]: [2, 4]}, "ack_filter", 9, []),
        ({"queue.interval_ms": [10, 20]}, "queue.target", "9 ms", ["topology.bottleneck.queue.interval_ms"]),
    ],
)
def test_a_value_ends_the_sweep_of_its_other_spelling(
    small: Scenario, swept: dict[str, list[object]], key: str, value: object, left: list[str]
) -> None:
    link = "topology.bottleneck"
    sweep = {f"{link}.{path}": values for path, values in swept.items()}
    made = Scenario(**queue(small).to_dict() | {"sweep": sweep}).with_values({f"{link}.{key}": value})
    assert list(made.sweep) == left
    unswept = queue(small).with_values({f"{link}.{key}": value})
    assert made.with_values({path: values[0] for path, values in sweep.items() if path in left}) == (
        unswept.with_values({path: sweep[path][0] for path in left})
    )


def test_a_value_ends_no_sweep_of_another_parameter_of_an_own_algorithm(small: Scenario) -> None:
    given = small.to_dict() | {"sweep": {"flows.0.cca.target_s": [1.0, 2.0]}}
    given["flows"][0]["cca"] = {"kind": "python:not_loaded:Mine", "target_s": 1.0}
    made = Scenario(**given).with_values({"flows.0.cca.target": 3.0})
    params = [one.flows[0].cca.params for one in made.expand() if one.flows[0].cca]
    assert params == [{"target_s": 1.0, "target": 3.0}, {"target_s": 2.0, "target": 3.0}]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"target": 5}, "target: a duration needs a unit"),
        ({"target": "5 Mbit/s"}, "target: unknown unit"),
        ({"target": "0 ms"}, 'target: "0 ms" is out of range; from 1 us to 10 s'),
        ({"target_ms": "5 ms"}, "target_ms: expected a number"),
        ({"target": "5 ms", "target_ms": 5}, "target_ms: the same parameter as target"),
    ],
)
def test_a_wrong_quantity_is_refused(small: Scenario, params: dict[str, object], problem: str) -> None:
    with pytest.raises(ScenarioError, match=rf"queue\.{problem}"):
        queue(small, **params)


@pytest.mark.parametrize("name", families())
def test_keys_of_an_entry_are_unique(name: str) -> None:
    for entry in family(name).values():
        keys = [param.key for param in entry.params.values()]
        assert len({*keys}) == len(keys)
        assert not {*keys} & {param.name for param in entry.params.values() if param.key != param.name}


def test_a_parameter_of_an_algorithm_has_a_unit(small: Scenario) -> None:
    cca = {"kind": "bbr3", "probe_rtt": "100 ms"}
    assert small.with_values({"flows.0.cca": cca}) == small.with_values(
        {"flows.0.cca": {"kind": "bbr3", "probe_rtt_ms": 100}}
    )
