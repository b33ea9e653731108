"""Every choice that a parameter of an impairment offers is told to the engines apart."""

from fullpipe import Scenario
from fullpipe.engines.linux.tc.jitter import jitter_of
from fullpipe.engines.linux.tc.link import Netem
from fullpipe.engines.ns3.input import program_input
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.link.impairments import Impairments

SHAPES = catalogue.family("impairments")["jitter"].params["shape"].choices


def test_netem_has_options_of_its_own_for_every_distribution_of_jitter() -> None:
    given = [Impairments.model_validate({"jitter": jitter(shape)}) for shape in SHAPES]
    assert len({Netem(jitter=jitter_of(one)).qdisc(1) for one in given}) == len(SHAPES)


def test_ns3_has_a_line_of_its_own_for_every_distribution_of_jitter() -> None:
    found = {program_input(jittery(shape), 1) for shape in SHAPES}
    assert len(found) == len(SHAPES)


def jitter(shape: str) -> dict[str, str]:
    return {"spread": "5 ms", "shape": shape}


def jittery(shape: str) -> Scenario:
    bottleneck = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"packets": 50}, "jitter": jitter(shape)}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return Scenario(name="jittery", duration="1 s", topology=topology, flows=[{"cca": "cubic"}])
