"""Links that change: shapes become steps that can be worked out by hand, and mistakes are refused."""

from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError, run
from fullpipe.engines import engine
from fullpipe.engines.native.plan import plan
from fullpipe.scenario import catalogue

MS = 10**6


def with_link(small: Scenario, **link: Any) -> Scenario:
    return small.with_values({f"topology.bottleneck.{key}": value for key, value in link.items()})


def steps(small: Scenario, *shapes: dict[str, Any], **link: Any) -> list[tuple[float, Any]]:
    """Milliseconds and the value that changes."""
    changes = plan(with_link(small, shapes=list(shapes), **link))["links"][0]["changes"]
    return [
        (change.pop("at_ns") / MS, next(iter(change.values())) if len(change) == 1 else change)
        for change in changes
    ]


def test_a_ramp_goes_in_equal_steps_from_what_the_link_has(small: Scenario) -> None:
    ramp = {"kind": "ramp", "at": "100 ms", "over": "40 ms", "step": "10 ms", "to": {"rate": "2 Mbit/s"}}
    assert steps(small, ramp) == [
        (100, 10_000_000), (110, 8_000_000), (120, 6_000_000), (130, 4_000_000), (140, 2_000_000)
    ]  # fmt: skip


def test_a_ramp_may_say_where_it_begins_and_move_delay_loss_and_limit(small: Scenario) -> None:
    loss = {"kind": "bernoulli", "probability": 0.5}
    ramp = {
        "kind": "ramp", "at": "0 s", "over": "20 ms", "step": "10 ms",
        "from": {"delay": "1 ms"}, "to": {"delay": "3 ms", "loss": loss, "packets": 40},
    }  # fmt: skip
    half = {"kind": "bernoulli", "probability": 0.25}
    assert steps(small, ramp)[1] == (
        10, {"delay_ns": 2 * MS, "loss": half, "limit": {"packets": 30, "bytes": None}}
    )  # fmt: skip


def test_a_spike_goes_back_to_what_it_would_have_been(small: Scenario) -> None:
    spike = {"kind": "spike", "at": "100 ms", "lasts": "50 ms", "to": {"delay": "200 ms"}}
    assert steps(small, spike) == [(100, 200 * MS), (150, 10 * MS)]
    found = steps(small, spike, changes=[{"at": "120 ms", "delay": "30 ms"}])
    assert found == [(100, 200 * MS), (120, 30 * MS), (150, 30 * MS)]


def test_spikes_come_again_until_the_end(small: Scenario) -> None:
    spike = {"kind": "spike", "at": "0 s", "lasts": "1 ms", "every": "400 ms", "to": {"rate": "0 bit/s"}}
    assert [at for at, _ in steps(small, spike)] == [0, 1, 400, 401, 800, 801]


def test_a_cycle_takes_its_states_in_turn(small: Scenario) -> None:
    states = [{"rate": "1 Mbit/s"}, {"rate": "2 Mbit/s"}, {"rate": "3 Mbit/s"}]
    cycle = {"kind": "cycle", "at": "300 ms", "every": "200 ms", "states": states}
    assert steps(small, cycle) == [(300, 10**6), (500, 2 * 10**6), (700, 3 * 10**6), (900, 10**6)]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("sine", [20, 30, 20, 10]),
        ("triangle", [10, 20, 30, 20]),
        ("sawtooth", [10, 15, 20, 25]),
    ],
)
def test_waves_have_their_shapes(small: Scenario, shape: str, expected: list[int]) -> None:
    wave = {
        "kind": "wave", "shape": shape, "at": "0 s", "period": "1 s", "step": "250 ms",
        "low": {"delay": "10 ms"}, "high": {"delay": "30 ms"},
    }  # fmt: skip
    assert [value / MS for _, value in steps(small, wave)] == expected


def test_a_square_begins_high_and_needs_no_step(small: Scenario) -> None:
    wave = {
        "kind": "wave", "shape": "square", "at": "0 s", "period": "600 ms",
        "low": {"packets": 5}, "high": {"packets": 50},
    }  # fmt: skip
    assert [(at, limit["packets"]) for at, limit in steps(small, wave)] == [
        (0, 50), (300, 5), (600, 50), (900, 5)
    ]  # fmt: skip


def test_a_run_may_end_in_an_outage_that_comes_again(small: Scenario) -> None:
    states = [{"rate": "1 Mbit/s"}, {"rate": "0 bit/s"}]
    found = steps(small, {"kind": "cycle", "at": "0 s", "every": "300 ms", "states": states})
    assert found[-2:] == [(900, 0), (1200, 10**6)]


def test_an_outage_without_an_end_is_refused(small: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r"topology.bottleneck: its rate ends at 0, .* ends the outage"):
        with_link(small, changes=[{"at": "100 ms", "rate": "0 bit/s"}])
    ended = [{"at": "100 ms", "rate": "0 bit/s"}, {"at": "1 min", "rate": "1 Mbit/s"}]
    assert not engine("native").check(with_link(small, changes=ended))


def test_wandering_is_left_to_the_seed(small: Scenario) -> None:
    states = [{"rate": "1 Mbit/s"}, {"rate": "9 Mbit/s"}]
    channel = {"kind": "wander", "at": "0 s", "mean": "100 ms", "states": states}
    scenario = with_link(small, shapes=[channel])
    assert plan(scenario)["links"][0]["markov_channel"]["states"] == [
        {"at_ns": 0, "rate_bps": 10**6}, {"at_ns": 0, "rate_bps": 9 * 10**6}
    ]  # fmt: skip
    goodputs = [run(scenario, seed=seed).flows["goodput_bps"][0] for seed in (1, 1, 2)]
    assert goodputs[0] == goodputs[1] != goodputs[2]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ({"changes": [{"at": "1 s"}]}, r"changes\[0\]: changes nothing; give at least one of rate"),
        ({"shapes": [{"kind": "spline"}]}, r'shapes\[0\].kind: unknown value "spline"; did you mean "spike"'),
        ({"shapes": [{"at": "1 s"}]}, r"shapes\[0\].kind: missing; write one of ramp, spike"),
        (
            {"shapes": [{"kind": "wave", "at": "0 s", "period": "1 s", "low": {"rate": "1 bit/s"},
                         "high": {"rate": "2 bit/s"}}]},
            r"shapes\[0\]: step: needed",
        ),
        (
            {"shapes": [{"kind": "wave", "at": "0 s", "period": "1 s", "step": "1 ms",
                         "low": {"rate": "1 bit/s"}, "high": {"delay": "2 s"}}]},
            r"shapes\[0\]: low and high set different quantities",
        ),
        (
            {"shapes": [{"kind": "spike", "at": "0 s", "lasts": "1 s", "every": "1 s",
                         "to": {"delay": "2 s"}}]},
            r"shapes\[0\]: every: a spike would begin before",
        ),
        (
            {"shapes": [{"kind": "cycle", "at": "0 s", "every": "1 ns",
                         "states": [{"rate": "1 bit/s"}, {"rate": "2 bit/s"}]}]},
            r"shapes\[0\]: makes 1,000,000,000 steps, more than 1,000,000; ",
        ),
        (
            {"shapes": [{"kind": "wander", "at": "0 s", "mean": "1 ns",
                         "states": [{"rate": "1 bit/s"}, {"rate": "2 bit/s"}]}]},
            r"shapes\[0\]: makes 1,000,000,000 steps, more than 1,000,000; ",
        ),
        ({"frames": {"every": "1 ms", "size": "1 kB"}}, "frames: replaces the rate; leave out rate"),
        ({"ack_filter": 1}, "ack_filter: must be at least 2"),
        ({"duplicate": 1.5}, "duplicate: must be at most 1"),
        ({"loss": {"kind": "replay"}}, "give one of packets"),
        ({"loss": {"kind": "replay", "packets": [3, 3]}}, "packets: must be in ascending order"),
        ({"loss": {"kind": "replay", "packets": [3], "period": 3}}, "period: 3 ends before packet 3"),
        ({"loss": {"kind": "replay", "file": "nowhere"}}, "nowhere: no such file"),
    ],
)  # fmt: skip
def test_mistakes_are_named(small: Scenario, link: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        with_link(small, **link)


@pytest.mark.parametrize(
    "shape",
    [
        {"kind": "ramp", "over": "1000 s", "to": {"rate": "1 bit/s"}},
        {"kind": "wave", "period": "1 s", "low": {"rate": "1 bit/s"}, "high": {"rate": "2 bit/s"}},
    ],
    ids=lambda shape: shape["kind"],
)
def test_too_many_steps_are_refused_before_they_are_made(
    small: Scenario, shape: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fullpipe.scenario.network.timeline._between", lambda *_: pytest.fail("a step was made")
    )
    with pytest.raises(ScenarioError, match="steps, more than 1,000,000"):
        with_link(small, shapes=[{"at": "0 s", "step": "1 ns", **shape}])


@pytest.mark.parametrize("kind", catalogue.queues())
def test_a_limit_becomes_another_of_a_kind_that_the_queue_has(small: Scenario, kind: str) -> None:
    queue = {"kind": kind, **({"packets": 20} if kind == "drop_tail" else {})}
    accepted = []
    for unit, limit in (("packets", 5), ("bytes", "20 kB")):
        try:
            changed = with_link(small, queue=queue, changes=[{"at": "1 s", unit: limit}])
        except ScenarioError as error:
            (line,) = error.problems
            assert line.startswith(f"topology.bottleneck.changes[0].{unit}: the limit of this {kind} is in")
        else:
            accepted.append(unit)
            assert engine("native").check(changed) == []
    others = {"tbf": ["packets", "bytes"], "red": ["bytes"], "cake": ["bytes"]}
    assert accepted == others.get(kind, ["packets"])


def test_a_queue_in_bytes_stays_one(small: Scenario) -> None:
    spike = {"kind": "spike", "at": "0 s", "lasts": "1 s", "to": {"packets": 2}}
    with pytest.raises(
        ScenarioError, match=r"bottleneck\.shapes\[0\]\.to\.packets: .* in bytes; write bytes"
    ):
        with_link(small, queue={"kind": "drop_tail", "bytes": "20 kB"}, shapes=[spike])


def test_a_spike_in_a_limit_that_nobody_said_is_refused(small: Scenario) -> None:
    spike = {"kind": "spike", "at": "0 s", "lasts": "1 s", "to": {"packets": 2}}
    with pytest.raises(ScenarioError, match=r"shapes\[0\]: the limit of the queue is not known"):
        with_link(small, queue={"kind": "drop_tail", "size": "1 bdp"}, shapes=[spike])


def test_a_lower_limit_shortens_the_queue(small: Scenario) -> None:
    changes = [{"at": "500 ms", "packets": 3}]
    found = run(with_link(small.with_values({"duration": "3 s", "warmup": "1 s"}), changes=changes))
    assert found.links_summary["backlog_max_packets"][0] == 3


def test_frames_hand_over_what_they_hold_at_their_turns(small: Scenario) -> None:
    tree = small.to_dict()
    del tree["topology"]["bottleneck"]["rate"]
    tree["topology"]["bottleneck"] |= {"frames": {"every": "5 ms", "size": "6 kB"}}
    found = run(Scenario(**tree | {"record": {"packets": ["bottleneck"]}, "duration": "3 s"}))
    times = found.packets["time_ns"] - 10 * MS
    assert set(times % (5 * MS)) == {0}
    assert times.value_counts()["count"].max() <= 5  # 6000 bytes hold 3 packets, and the ends of two
    assert 8.5e6 < found.flows["goodput_bps"][0] < 9.6e6


def test_a_recording_of_losses_is_read_from_a_file(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "losses").write_text("0001\n0100\n", encoding="utf-8")
    loss = {"kind": "replay", "file": str(tmp_path / "losses"), "repeat": True}
    [found] = [plan(with_link(small, loss=loss))["links"][0]["loss"]]
    assert found == {"kind": "replay", "packets": [3, 5], "period": 8}
    (tmp_path / "losses").write_text("001\n0 2\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=':2: "2" is neither 0 nor 1'):
        with_link(small, loss=loss)


def test_the_way_back_may_have_impairments_of_its_own(small: Scenario) -> None:
    """Loss, copies, aggregation, an ACK filter or an outage on the route of the ACKs: the flow goes on."""
    alone = run(small.with_values({"duration": "5 s"})).flows["goodput_bps"][0]
    impairments: list[dict[str, Any]] = [
        {"loss": {"kind": "bernoulli", "probability": 0.05}},
        {"duplicate": 0.1},
        {"batch": "5 ms"},
        {"ack_filter": 4},
        {"jitter": {"spread": "2 ms", "reorder": True}},
        {"changes": [{"at": "1 s", "rate": "0 bit/s"}, {"at": "1500 ms", "rate": "10 Mbit/s"}]},
    ]
    for one in impairments:
        back = {"rate": "10 Mbit/s", "delay": "10 ms", **one}
        found = run(small.with_values({"duration": "5 s", "topology.reverse": back})).flows
        assert found["goodput_bps"][0] > 0.75 * alone, one


def test_thinning_drops_three_acks_in_four(small: Scenario) -> None:
    back = {"rate": "10 Mbit/s", "delay": "10 ms", "ack_filter": 4}
    found = run(small.with_values({"duration": "5 s", "topology.reverse": back})).links_summary[1]
    share = found["forwarded_packets"][0] / (found["forwarded_packets"][0] + found["dropped_packets"][0])
    assert 0.24 < share < 0.4
