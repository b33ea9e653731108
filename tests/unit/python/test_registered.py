"""Options of the transport are declared in Rust alone; the model, its checks and the plan follow."""

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.scenario.catalogue import Param, family
from fullpipe.scenario.documented import documented
from fullpipe.scenario.model.registered import field_name
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
