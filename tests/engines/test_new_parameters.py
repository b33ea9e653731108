"""Every parameter of every queue, loss and impairment: an engine uses the parameter, or refuses it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fullpipe.engines import lacks
from fullpipe.engines.linux.check import NOT_OF_QDISC, capabilities
from fullpipe.engines.linux.check import problems as problems_of_linux
from fullpipe.engines.linux.install.installed import Installed, everything
from fullpipe.engines.linux.tc import qdisc
from fullpipe.engines.ns3 import Ns3Engine, supported
from fullpipe.engines.ns3.input import problems as problems_of_ns3
from fullpipe.engines.ns3.supported import NoCounterpartError, ns3_queue
from fullpipe.scenario import Scenario, catalogue, resolve
from fullpipe.scenario.catalogue import Param
from fullpipe.scenario.model.link.queues import Discipline, DropTail

NEW = Param("new_ms", 1.0, "ms", "A parameter that no engine reads.", 0.0, 10.0, kind="number")
ENOUGH: dict[str, dict[str, Any]] = {"step": {"mark_ms": 1.0}}
"""Parameters without which the Linux engine refuses a queue."""


def scenario(kind: str, params: dict[str, Any]) -> Scenario:
    bottleneck = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"kind": kind, **params}}
    if kind == "tbf":
        del bottleneck["rate"]  # Linux refuses a rate besides the rate of the bucket
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return Scenario(name="test", duration="10 s", topology=topology, flows=[{"cca": "cubic"}])


def refusals_of_linux(made: Scenario, known: Installed) -> list[str]:
    return [*dict.fromkeys(one.path for one in problems_of_linux(made, resolve(made), known))]


def refusals_of_ns3(made: Scenario) -> list[str]:
    return [problem.message for problem in problems_of_ns3(made, Ns3Engine().capabilities())]


@pytest.fixture
def with_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every queue of the registry one more parameter."""
    entries = {
        name: replace(entry, params={**entry.params, NEW.name: NEW})
        for name, entry in catalogue.queues().items()
    }
    monkeypatch.setattr(catalogue, "queues", lambda: entries)


@pytest.mark.usefixtures("with_new")
@pytest.mark.parametrize("kind", sorted(qdisc.MAKERS))
def test_linux_refuses_a_new_parameter_of_a_queue(kind: str) -> None:
    enough, known = ENOUGH.get(kind, {}), everything()
    assert refusals_of_linux(scenario(kind, enough), known) == []
    new = scenario(kind, {**enough, NEW.name: 2.0})
    assert refusals_of_linux(new, known) == [f"topology.bottleneck.queue.{NEW.name}"]


@pytest.mark.usefixtures("with_new")
@pytest.mark.parametrize("kind", sorted({*supported.MAKERS} - {"mac80211"}))
def test_ns3_refuses_a_new_parameter_of_a_queue(kind: str) -> None:
    assert refusals_of_ns3(scenario(kind, {})) == []
    [refusal] = refusals_of_ns3(scenario(kind, {NEW.name: 2.0}))
    assert refusal == f"ns-3's {kind} has no {NEW.name}; leave it out"


@pytest.mark.usefixtures("with_new")
def test_ns3_refuses_a_new_parameter_of_the_queues_of_wifi() -> None:
    with pytest.raises(NoCounterpartError, match=f"mac80211 has no {NEW.name}"):
        ns3_queue(Discipline(kind="mac80211", **{NEW.name: 2.0}))


class NewDropTail(DropTail):
    """A drop_tail with one more field."""

    new: int = 0


def test_engines_refuse_a_new_parameter_of_drop_tail() -> None:
    network = resolve(scenario("codel", {}))
    queue = NewDropTail(packets=10, new=2)
    links = [replace(link, queue=queue) if link.queue else link for link in network.links]
    made = replace(network, links=links)
    paths = {one.path for one in problems_of_linux(scenario("codel", {}), made, everything())}
    assert paths == {"topology.bottleneck.queue.new"}
    with pytest.raises(NoCounterpartError, match="drop_tail has no new"):
        ns3_queue(queue)


def test_parameters_that_linux_uses_elsewhere_are_those_of_the_registry() -> None:
    for kind, keys in NOT_OF_QDISC.items():
        assert keys <= set(catalogue.queue(kind).params)


BURSTS = {"kind": "gilbert_elliott", "worsens": 0.001, "improves": 0.1, "bad": 0.4}
ON_A_LINK: list[tuple[str, dict[str, Any], str]] = [
    ("gilbert_elliott", {"loss": BURSTS}, "loss.bad"),
    ("jitter", {"jitter": {"spread": "5 ms", "reorder": True}}, "jitter.reorder"),
]


@pytest.mark.parametrize(("name", "keys", "path"), ON_A_LINK)
def test_engines_refuse_a_new_parameter_of_a_loss_or_an_impairment(
    name: str, keys: dict[str, Any], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bottleneck = {"rate": "20 Mbit/s", "delay": "20 ms", **keys}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    made = Scenario(name="test", duration="10 s", topology=topology, flows=[{"cca": "cubic"}])
    assert refusals_of_linux(made, everything()) == refusals_of_ns3(made) == []
    new = path.rpartition(".")[2]
    monkeypatch.setitem(lacks._OF_LINKS, name, lacks._OF_LINKS[name] - {new})
    assert refusals_of_linux(made, everything()) == [f"topology.bottleneck.{path}"]
    assert all(f"no such parameter of {name}" in refusal for refusal in refusals_of_ns3(made))
    assert refusals_of_ns3(made)


def test_the_losses_and_impairments_of_engines_have_known_parameters() -> None:
    for can in (capabilities(everything()), Ns3Engine().capabilities()):
        assert can.losses | can.impairments <= lacks._OF_LINKS.keys()
    entries = catalogue.family("losses") | catalogue.family("impairments")
    assert all(keys <= set(entries[name].params) for name, keys in lacks._OF_LINKS.items())
