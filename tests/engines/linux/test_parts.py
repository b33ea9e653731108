"""The parts of the engine that compute something: streams, marks, memory, edits of a kernel."""

from __future__ import annotations

import struct
from math import exp
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import Any

import polars as pl
import pytest

from fullpipe import Scenario
from fullpipe.engines.linux import tables
from fullpipe.engines.linux.boot import needed_mb
from fullpipe.engines.linux.check import problems
from fullpipe.engines.linux.departures import accecn_option_bytes, departures_ns, start_ns
from fullpipe.engines.linux.install import kernel
from fullpipe.engines.linux.install.installed import Installed, in_kernel
from fullpipe.engines.linux.tables import packets
from fullpipe.engines.linux.tables.connections import marked
from fullpipe.engines.linux.tc.gates import gate
from fullpipe.engines.linux.tc.jitter import jitter_of
from fullpipe.engines.linux.tc.link import Netem, link_states, outages
from fullpipe.engines.linux.tc.qdisc import Thresholds, all_params, thresholds
from fullpipe.engines.native import NativeEngine
from fullpipe.errors import EngineError, InstallOptionError
from fullpipe.scenario import resolve
from fullpipe.scenario.model.link.impairments import Impairments


@pytest.mark.parametrize("seed", [1, 2, 2**63])
def test_a_start_is_the_same_as_in_the_simulator(small: Scenario, seed: int) -> None:
    scenario = small.with_values({"flows.0.start_jitter": "100 ms", "duration": "200 ms"})
    run = NativeEngine().run(scenario, seed=seed)
    assert run.flows["start_s"][0] == start_ns(0, 100_000_000, seed, "#0/0") / 1e9


@pytest.mark.parametrize(
    ("tcp", "cca", "size"),
    [
        ({"ecn": "accecn"}, "cubic", 12),
        ({"ecn": True}, "prague", 12),
        ({"ecn": True}, "cubic", 0),
        ({"ecn": "accecn", "accecn_option": False}, "cubic", 0),
    ],
)
def test_the_accecn_option_counts_on_the_wire(
    small: Scenario, tcp: dict[str, object], cca: str, size: int
) -> None:
    (routed,) = resolve(small.with_values({"flows.0.cca": cca, "tcp": tcp})).flows
    assert accecn_option_bytes(routed) == size


def test_rtts_of_a_kernel_are_said_to_be_smoothed(small: Scenario) -> None:
    smoothed = {f"flows.rtt_{what}_s" for what in ("mean", "p50", "p95", "p99")}
    assert set(tables.otherwise(small)) == smoothed
    assert set(tables.otherwise(small.with_values({"warmup": "1 s"}))) == {*smoothed, "flows.rtt_min_s"}


@pytest.mark.parametrize("workload", [{"kind": "voip"}, {"kind": "ping", "interval": "20 ms"}], ids=str)
def test_datagrams_lost_during_the_warm_up_do_not_count(small: Scenario, workload: dict[str, str]) -> None:
    """The native engine's trips, read as the guest's, give its counts."""
    loss = {"kind": "bernoulli", "probability": 0.1}
    flows = [{"name": "it", "workload": workload}]
    scenario = small.with_values({"warmup": "2 s", "flows": flows, "topology.bottleneck.loss": loss})
    run = NativeEngine().run(scenario, seed=1)
    ns = {name: (pl.col(name) * 1e9).round().cast(pl.Int64) for name in ("time_s", "owd_s", "rtt_s")}
    rows = run.probes.select(
        sent=ns["time_s"], arrived=ns["time_s"] + ns["owd_s"], returned=ns["time_s"] + ns["rtt_s"]
    )
    (routed,) = [routed for routed in resolve(scenario).flows if routed.name == "it"]
    assert routed.flow.datagrams
    found = packets.flow(packets.ProbeRecords(rows, routed, routed.flow.datagrams, 0), scenario)
    (own,) = run.flows.filter(flow="it").to_dicts()
    counts = ("sent_packets", "lost_packets", "delivered_bytes")
    assert {name: found[name] for name in counts} == {name: own[name] for name in counts}
    every = scenario.with_values({"warmup": "0 s"})
    assert NativeEngine().run(every, seed=1).flows["lost_packets"][0] > own["lost_packets"] > 0


@pytest.mark.parametrize(("on", "off"), [("50 ms", "50 ms"), ("1 ms", "5 ms")])
def test_departures_are_the_same_as_in_the_simulator(small: Scenario, on: str, off: str) -> None:
    """Also where silence begins before the first datagram."""
    workload = {"kind": "udp", "rate": "1 Mbit/s", "spacing": "poisson", "on": on, "off": off}
    flow = {"workload": {**workload, "periods": "exponential"}}
    scenario = small.with_values({"flows": [flow], "record.packets": ["sender"]})
    sent = NativeEngine().run(scenario, seed=5).packets.filter(kind="datagram")["time_ns"].to_list()
    datagrams = scenario.flows[0].datagrams
    assert datagrams
    assert departures_ns(datagrams, "#0/0", 0, 4_000_000_001, seed=5) == sent


def test_marks_of_codel_are_those_of_its_law_and_those_of_its_threshold() -> None:
    assert marked("codel", struct.pack("<9I", 0, 0, 0, 0, 0, 0, 5, 0, 2).hex()) == 7


def test_marks_of_cake_are_summed_over_its_tins() -> None:
    def attribute(kind: int, value: bytes) -> bytes:
        return struct.pack("<HH", 4 + len(value), kind) + value

    tins = [attribute(number, attribute(7, struct.pack("<I", marks))) for number, marks in ((1, 3), (2, 4))]
    assert marked("cake", attribute(10, b"".join(tins)).hex()) == 7


@pytest.mark.parametrize(("kind", "place"), [("red", 3), ("fq", 20)])
def test_marks_of_other_queues_are_a_number_among_their_own(kind: str, place: int) -> None:
    words = [5 if n == place else 0 for n in range(place + 2)]
    assert marked(kind, struct.pack(f"<{len(words)}I", *words).hex()) == 5


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"min": 5_000, "max": 15_000, "burst": 8}, Thresholds(5_000, 15_000, 3)),
        ({"limit": 60_000}, Thresholds(5_000, 15_000, 3)),
        ({"min": 5_000}, Thresholds(5_000, 15_000, 3)),
    ],
)
def test_thresholds_of_red_are_derived_from_each_other(given: dict[str, int], expected: Thresholds) -> None:
    assert thresholds(all_params("red", given)) == expected


def test_a_queue_without_marks_has_none() -> None:
    assert marked("pfifo", "") == 0


def test_more_on_the_way_needs_more_memory(small: Scenario) -> None:
    faster = small.with_values({"topology.bottleneck.rate": "1 Gbit/s", "topology.bottleneck.delay": "60 ms"})
    assert needed_mb(resolve(faster)) > needed_mb(resolve(small))


def test_the_first_study_gets_the_memory_that_it_was_seen_to_need() -> None:
    [scenario, *_] = Scenario.named("kato2025").expand()
    assert needed_mb(resolve(scenario)) >= 256


def test_kernels_with_bbr3_call_it_bbr() -> None:
    assert (in_kernel("bbr3", ("bbr", "bbr1")), in_kernel("bbr1", ("bbr", "bbr1"))) == ("bbr", "bbr1")


def test_kernels_without_bbr3_call_bbr1_bbr() -> None:
    assert (in_kernel("bbr3", ("bbr",)), in_kernel("bbr1", ("bbr",))) == (None, "bbr")


def test_netem_that_serialises_apart_does_nothing_else_there() -> None:
    serialises, rest = Netem(delay_ns=5, rate_bps=8_000).split()
    assert (serialises.delay_ns, rest.rate_bps) == (0, None)


@pytest.mark.parametrize("target", [1, 7, 46, 91])
def test_a_table_of_netem_has_the_mean_and_the_quantiles_of_wifi_jitter(target: int) -> None:
    jitter = jitter_of(Impairments.model_validate({"wifi_jitter": f"{target} ms"}))
    assert jitter is not None
    table = struct.unpack(f"<{len(jitter.table) // 2}h", jitter.table)
    delays_ms = [jitter.spread_ns * entry / 8192 / 1e6 for entry in table]
    assert fmean(delays_ms) == pytest.approx(target - 0.5 * (1 - exp(-1)), rel=0.002)
    # Without retransmissions, P(N1 - r <= 1 ms) is P(N1 <= 1); any retransmission adds 7.5 ms or more.
    at_most = sum(delay <= 1 for delay in delays_ms) / len(delays_ms)
    assert at_most == pytest.approx((1 - (target - 1) / 90) * 2 * exp(-1), abs=0.001)


def test_a_table_of_netem_has_every_recorded_delay(tmp_path: Path) -> None:
    file = tmp_path / "delays.txt"
    file.write_text("3\n250\n0\n", encoding="utf-8")
    jitter = jitter_of(Impairments.model_validate({"recorded_jitter": {"file": str(file)}}))
    assert jitter is not None
    table = struct.unpack(f"<{len(jitter.table) // 2}h", jitter.table)
    assert [jitter.spread_ns * entry / 8192 / 1e6 for entry in table] == pytest.approx([0, 3, 250], abs=0.005)


def test_jitter_that_netem_lacks_is_refused(small: Scenario, known: Installed, tmp_path: Path) -> None:
    file = tmp_path / "delays.txt"
    file.write_text("9000\n", encoding="utf-8")
    links: list[dict[str, Any]] = [
        {"jitter": {"spread": "1 ms"}, "wifi_jitter": "7 ms"},
        {"recorded_jitter": str(file)},
        {"jitter": {"spread": "5 s"}},
    ]
    found = []
    for link in links:
        scenario = small.with_values({f"topology.bottleneck.{key}": value for key, value in link.items()})
        found += [problem.message.split(";")[0] for problem in problems(scenario, resolve(scenario), known)]
    assert found == ["a netem has one distribution of delays", *["delays exceed the maximum of netem"] * 2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What a kernel tree has of what is edited."""
    files = {
        "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n",
        "arch/um/include/time.h": "#define TIMER_MULTIPLIER 256\n#define TIMER_MIN_DELTA  500\n",
        "arch/um/os-Linux/util.c": "#include <a.h>\n\nint f(void)\n{\n\treturn getrandom(a, b, c);\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_clock_of_a_kernel_is_edited(tree: Path) -> None:
    kernel.edit(tree)
    assert (tree / "arch/um/Kconfig").read_text(encoding="utf-8").endswith("default 1000\n")


def test_a_tree_is_edited_once(tree: Path) -> None:
    kernel.edit(tree)
    before = (tree / "arch/um/os-Linux/util.c").read_text(encoding="utf-8")
    kernel.edit(tree)
    assert (tree / "arch/um/os-Linux/util.c").read_text(encoding="utf-8") == before


def test_a_kernel_that_differs_is_refused(tree: Path) -> None:
    (tree / "arch/um/Kconfig").write_text("nothing\n", encoding="utf-8")
    with pytest.raises(EngineError, match="differs"):
        kernel.edit(tree)


def test_every_algorithm_of_a_tree_is_built(tree: Path) -> None:
    kconfig = tree / "net/ipv4/Kconfig"
    kconfig.parent.mkdir(parents=True)
    kconfig.write_text('config TCP_CONG_FOO\n\ttristate "Foo"\nconfig INET_AH\n', encoding="utf-8")
    lines = kernel.configuration(tree).splitlines()
    assert "CONFIG_TCP_CONG_FOO=y" in lines
    assert "CONFIG_INET_AH=y" not in lines


def test_a_copy_is_kept_until_the_tree_changes(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "make", lambda *_: None)
    folder, said = tmp_path_factory.mktemp("work"), list[str]()
    for _ in range(2):
        copied = kernel.copy(tree, folder, said.append)
    assert len(said) == 1
    (tree / "arch/um/Kconfig").write_text("another", encoding="utf-8")
    kernel.copy(tree, folder, said.append)
    assert len(said) == 2
    assert (copied / "arch/um/Kconfig").read_text(encoding="utf-8") == "another"


def test_a_folder_without_a_kernel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstallOptionError, match="not the source tree of a kernel"):
        kernel.check(tmp_path)


def test_code_of_hardware_is_left_out_and_what_describes_the_build_is_kept() -> None:
    names = (
        "drivers/gpu/drm/a.c",
        "drivers/gpu/drm/Kconfig",
        "arch/arm/a.S",
        "arch/um/a.c",
        "net/ipv4/tcp.c",
        "tools/testing/selftests/net/packetdrill/a.pkt",
        "tools/testing/selftests/net/packetdrill/defaults.sh",
        "tools/testing/selftests/net/packetdrill/ksft_runner.sh",
    )
    assert [kernel.is_useless(PurePosixPath(name)) for name in names] == [
        True,
        False,
        True,
        False,
        False,
        False,
        False,
        True,
    ]


def test_scripts_of_a_kernel_replace_those_of_an_earlier_installation(tmp_path: Path) -> None:
    scripts, kept = tmp_path / "tree/tools/testing/selftests/net/packetdrill", tmp_path / "kept" / "9.9"
    kernel.keep_scripts(tmp_path / "tree", kept)
    assert not list(kept.iterdir())
    scripts.mkdir(parents=True)
    for name in ("a.pkt", "defaults.sh", "ksft_runner.sh"):
        (scripts / name).write_text(name, encoding="utf-8")
    kernel.keep_scripts(tmp_path / "tree", kept)
    assert {path.name for path in kept.iterdir()} == {"a.pkt", "defaults.sh"}


@pytest.mark.parametrize(("span_ms", "count"), [(1, 1), (20, 4), (2_000, 16), (9_973, 79), (98_765, 790)])
def test_gate_packets_take_as_long_as_the_outage(span_ms: int, count: int) -> None:
    found = gate(0, span_ms * 1_000_000, 10_000_000, 1514)
    assert found.packets.count == count
    taken_ms = found.packets.count * found.packets.size_bytes * 8_000 / found.rate_bps
    assert taken_ms == pytest.approx(span_ms, rel=1e-5)
    assert span_ms * (1 - 1 / count) < found.restored_ns / 1e6 <= span_ms


def test_steps_at_a_low_rate_are_no_outages(small: Scenario) -> None:
    """A packet of 1514 B at 100 kbit/s takes longer than each step."""
    steps = [{"at": f"{at} ms", "rate": f"{100 + at} kbit/s"} for at in range(0, 2000, 50)]
    network = resolve(small.with_values({"topology.bottleneck.changes": steps}))
    assert not list(outages(link_states(network.links[0])))
