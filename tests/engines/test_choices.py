"""Every choice that a parameter of an impairment offers is told to the engines apart."""

from typing import Literal, get_args

from fullpipe import Scenario
from fullpipe.engines.linux.tc.netem import Netem
from fullpipe.engines.ns3.program_input import program_input
from fullpipe.scenario.model.link.impairments import Jitter

SHAPES = get_args(Jitter.model_fields["shape"].annotation)


def test_netem_has_options_of_its_own_for_every_distribution_of_jitter() -> None:
    found = {Netem(jitter=Jitter(spread="5 ms", shape=shape)).qdisc(1) for shape in SHAPES}
    assert len(found) == len(SHAPES)


def test_ns3_has_a_line_of_its_own_for_every_distribution_of_jitter() -> None:
    found = {program_input(jittery(shape), 1) for shape in SHAPES}
    assert len(found) == len(SHAPES)


def jittery(shape: Literal["uniform", "normal"]) -> Scenario:
    jitter = {"spread": "5 ms", "shape": shape}
    bottleneck = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"packets": 50}, "jitter": jitter}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return Scenario(name="jittery", duration="1 s", topology=topology, flows=[{"cca": "cubic"}])
