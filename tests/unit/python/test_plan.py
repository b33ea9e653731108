"""From a scenario to a plan: integers in base units and nothing left to decide."""

import json

import pytest

from fullpipe import Scenario, _native
from fullpipe.engines.native import plan as written
from fullpipe.engines.native.plan import ASSUMED, Plan, plan, plan_text, tcp_of

FULL = """
name = "full"
duration = "50 s"
warmup = "10 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "1 Gbit/s"
delay = "50 ms"
queue = { kind = "drop_tail", bytes = "1 MiB" }
device_queue = { packets = 100 }
loss = { kind = "bernoulli", probability = 0.01 }
changes = [
    { at = "20 s", rate = "500 Mbit/s", delay = "5 ms" },
    { at = "30 s", loss = { kind = "periodic", every = 9 } },
    { at = "35 s", bytes = "50 kB" },
]
aggregation = "4 ms"
reordering = { every = 100, extra = "30 ms", from = "1 s" }
jitter = { spread = "2 ms", shape = "normal" }
shapes = [{ kind = "wander", at = "9 s", mean = "1 s", states = [{ rate = "2 bit/s" }, { delay = "2 s" }] }]
duplicate = 0.25
ack_filter = 4
[topology.reverse]
delay = "50 ms"
queue = { kind = "drop_tail", bytes = "1 MiB" }
frames = { every = "5 ms", size = "64 kB" }
[tcp]
mss = "1420 B"
timestamps = false
ack_every = 2
initial_window = 4
send_buffer = "1 MiB"
receive_buffer = "2 MiB"
host = "linux-defaults"
receive_memory_most = "64 MiB"
packet_memory = "2 KiB"
pacing = "always"
max_burst = "off"
min_burst = 4
gro = "50 us"
sack_compression = false
loss_detection = "dupack"
min_rto = "1 s"
tail_loss_probe = false
undo = false
ecn = true
[[flows]]
name = "first"
cca = { kind = "newreno", beta = 0.7 }
start = "1 s"
start_jitter = "5 ms"
stop = "40 s"
size = "10 MB"
[record]
interval = "off"
"""


def test_every_field_of_a_plan() -> None:
    back = {"kind": "drop_tail", "packets": None, "bytes": 1_048_576}
    assert plan(Scenario.from_toml(FULL)) == {
        "duration_ns": 50_000_000_000,
        "warmup_ns": 10_000_000_000,
        "links": [
            {
                "name": "bottleneck",
                "stream": "bottleneck",
                "nic": False,
                "rate_bps": 1_000_000_000,
                "delay_ns": 50_000_000,
                "queue": {"kind": "drop_tail", "packets": None, "bytes": 1_048_576},
                "device_packets": 100,
                "loss": {"kind": "bernoulli", "probability": 0.01},
                "changes": [
                    {"at_ns": 20_000_000_000, "rate_bps": 500_000_000, "delay_ns": 5_000_000},
                    {"at_ns": 30_000_000_000, "loss": {"kind": "periodic", "every": 9}},
                    {"at_ns": 35_000_000_000, "limit": {"packets": None, "bytes": 50_000}},
                ],
                "impairments": [
                    {"kind": "ack_filter", "every": 4},
                    {"kind": "jitter", "spread_ns": 2_000_000, "shape": "normal", "reorder": False},
                    {"kind": "aggregation", "slot_ns": 4_000_000},
                    {
                        "kind": "reordering",
                        "every": 100,
                        "extra_ns": 30_000_000,
                        "from_ns": 1_000_000_000,
                        "until_ns": None,
                    },
                    {"kind": "duplicate", "probability": 0.25},
                ],
                "opportunities": None,
                "markov_channel": {
                    "from_ns": 9_000_000_000,
                    "mean_ns": 1_000_000_000,
                    "neighbours": False,
                    "states": [{"at_ns": 0, "rate_bps": 2}, {"at_ns": 0, "delay_ns": 2_000_000_000}],
                },
            },
            {
                "name": "bottleneck-reverse",
                "stream": "bottleneck-reverse",
                "nic": False,
                "rate_bps": None,
                "delay_ns": 50_000_000,
                "queue": back,
                "device_packets": None,
                "loss": None,
                "changes": [],
                "impairments": [],
                "opportunities": {
                    "times": [5_000_000],
                    "unit_ns": 1,
                    "bytes": 64_000,
                    "repeat": True,
                    "offset_ns": 0,
                },
                "markov_channel": None,
            },
        ],
        "flows": [
            {
                "name": "first",
                "stream": "#0/0",
                "cca": {"kind": "reno", "params": {"beta": 0.7}},
                "start_ns": 1_000_000_000,
                "start_jitter_ns": 5_000_000,
                "stop_ns": 40_000_000_000,
                "bytes": 10_000_000,
                "application": [],
                "workload": None,
                "forward": [0],
                "reverse": [1],
                "reroutes": [],
                "dscp": 0,
                "hosts": None,
                "tcp": {
                    "mss": 1420,
                    "timestamps": False,
                    "ack_every": 2,
                    "sack_compression": False,
                    "initial_window": 4,
                    "send_buffer": 1_048_576,
                    "receive_buffer": 2_097_152,
                    "send_memory": 16 * 2**10,
                    "send_memory_most": 4 * 2**20,
                    "receive_memory": 128 * 2**10,
                    "receive_memory_most": 64 * 2**20,
                    "packet_memory": 2_048,
                    "pacing": "always",
                    "max_burst": 0,
                    "min_burst": 4,
                    "gro": 50_000,
                    "ecn": "on",
                    "loss_detection": "dupack",
                    "min_rto": 10**9,
                    "tail_loss_probe": False,
                    "undo": False,
                },
            }
        ],
        "record": {"interval_ns": None, "variables": False, "packets": []},
    }


def test_a_transport_like_linux_is_assumed(small: Scenario) -> None:
    assert plan(small)["flows"][0]["tcp"] == {}


def test_an_unlimited_queue_has_no_limit(small: Scenario) -> None:
    access = small.with_values({"topology.access.delay": "1 ms"})
    assert plan(access)["links"][2]["queue"] == {"kind": "drop_tail", "packets": None, "bytes": None}


@pytest.mark.parametrize("delay", ["1 ns", "123456789 ns", "59.999999999 s"])
def test_nanoseconds_survive(small: Scenario, delay: str) -> None:
    found = plan(small.with_values({"topology.bottleneck.delay": delay}))["links"][0]["delay_ns"]
    assert found == round(float(delay.split(maxsplit=1)[0]) * (1 if delay.endswith("ns") else 1e9))


def test_a_plan_is_json() -> None:
    for scenario in Scenario.named("kato2025").expand():
        found = plan(scenario)
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_an_application_has_a_pace(small: Scenario) -> None:
    paced = small.with_values({"flows[0].application": [{"at": "1 s", "rate": "2 Mbit/s"}, {"at": "3 s"}]})
    assert plan(paced)["flows"][0]["application"] == [
        {"at_ns": 10**9, "rate_bps": 2_000_000},
        {"at_ns": 3 * 10**9, "rate_bps": None},
    ]


SCENARIOS = ["rrul", "wifi-home-ax", "parking-lot", "cellular", "web-1000", "starlink-like"]


def whole(text: str) -> Plan:
    """A plan that was written, with every value that the simulator assumes."""
    tree: Plan = json.loads(text)
    links = [{**ASSUMED["LinkPlan"], **link} for link in tree["links"]]
    flows = [{**ASSUMED["FlowPlan"], **flow} for flow in tree["flows"]]
    return {**tree, "links": links, "flows": flows}


def test_what_is_left_out_is_what_the_simulator_assumes() -> None:
    types = json.loads(_native.plan_schema())["$defs"]
    for kind, assumed in ASSUMED.items():
        fields = types[kind]["properties"]
        assert assumed.keys().isdisjoint(types[kind].get("required", ()))
        assert {key: fields[key].get("default") for key in assumed} == assumed


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_written_plan_says_the_same(name: str) -> None:
    scenario = Scenario.named(name)
    first = scenario.expand()[0] if scenario.sweep else scenario
    assert whole(plan_text(first)) == json.loads(json.dumps(plan(first)))


def test_a_written_plan_of_every_field_says_the_same() -> None:
    scenario = Scenario.from_toml(FULL)
    assert whole(plan_text(scenario)) == plan(scenario)


def test_a_written_plan_of_links_at_hosts_says_the_same(small: Scenario) -> None:
    access = {"delay": "1 ms", "rate": "1 Gbit/s", "queue": {"packets": 100}}
    own = {"cca": "cubic", "count": 2, "access": {"delay": "2 ms"}}
    scenario = small.with_values({"topology.access": access, "flows": [{"cca": "reno", "count": 3}, own]})
    assert len(plan(scenario)["links"]) == 2 + 4 * 5
    assert whole(plan_text(scenario)) == plan(scenario)


def test_a_written_plan_gives_the_same_bytes(small: Scenario) -> None:
    texts = plan_text(small), json.dumps(plan(small))
    tables = [_native.Simulation(text, 1).finish()["tables"] for text in texts]
    assert tables[0] == tables[1]


def test_a_flow_takes_few_bytes_of_a_plan(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(written, "tcp_of", lambda tcp: made.append(tcp) or tcp_of(tcp))
    bytes_of = {n: len(plan_text(small.with_values({"flows.0.count": n}))) for n in (100, 1_100)}
    assert bytes_of[1_100] - bytes_of[100] < 350 * 1_000
    assert len(made) == 2  # one transport for all flows of an entry
