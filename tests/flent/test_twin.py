"""`fullpipe twin`: the path of a test, found again from its file alone."""

import gzip
import json
import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullpipe as library
from fullpipe import Scenario
from fullpipe.analysis.export import flent
from fullpipe.engines.flent.limits import least_wait_s
from fullpipe.engines.flent.run import read_test
from fullpipe.engines.flent.twin import twin_of
from fullpipe.engines.imported.measurement import Twin
from fullpipe.scenario import resolve
from fullpipe.scenario.flent.build import Choices, declared, path_of, scenario_of
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.validation.fit import fit
from fullpipe.validation.fit.read import read
from tests.flent import made
from tests.flent.test_remarks import ends_early

Cli = Callable[..., Any]
RATE, RTT, BUFFER = 0.03, 0.05, 0.15
"""How far a twin may be off."""
CASES = [
    # test, algorithm, Mbit/s, ms there and back, ms of buffer
    ("tcp_1up", "cubic", 100, 1.5, 120),
    ("tcp_1up", "reno", 10, 40, 60),
    ("tcp_1down", "cubic", 50, 20, 30),
    ("tcp_4up", "cubic", 20, 80, 200),
    ("tcp_4down", "reno", 200, 10, 20),
    ("tcp_12up", "cubic", 30, 30, 100),
    ("tcp_12down", "cubic", 5, 60, 300),
    ("tcp_2up", "htcp", 40, 15, 50),
    ("rrul_noclassification", "cubic", 25, 30, 80),
    ("rrul_be", "cubic", 60, 25, 100),
]


def path(rate_mbps: float, rtt_ms: float, buffer_ms: float) -> Scenario:
    link = {"rate": f"{rate_mbps} Mbit/s", "delay": f"{rtt_ms / 2} ms", "queue": {"size": f"{buffer_ms} ms"}}
    topology = {"kind": "dumbbell", "bottleneck": link}
    return Scenario(name="path", duration="1 s", topology=topology, flows=[{"cca": "cubic"}])


def twin(folder: Path, name: str, cca: str, scenario: Scenario, **choices: Any) -> Twin:
    run = library.run(scenario_of(declared(name), path_of(scenario), Choices((cca,), **choices)))
    file = folder / "a.flent.gz"
    file.write_bytes(flent(run))
    return twin_of(read_test(file), file)


@pytest.mark.parametrize(("name", "cca", "rate_mbps", "rtt_ms", "buffer_ms"), CASES)
def test_the_path_is_found_again(
    tmp_path: Path, name: str, cca: str, rate_mbps: float, rtt_ms: float, buffer_ms: float
) -> None:
    found = twin(tmp_path, name, cca, path(rate_mbps, rtt_ms, buffer_ms)).scenario
    network = resolve(found)
    for link in network.links[:2]:
        assert link.rate_bps == pytest.approx(rate_mbps * 1e6, rel=RATE)
        assert link.delay_s * 2e3 == pytest.approx(rtt_ms, rel=RTT)
        assert link.rate_bps is not None
        assert isinstance(link.queue, DropTail)
        assert link.queue.limit_bytes is not None
        assert link.queue.limit_bytes * 8e3 / link.rate_bps == pytest.approx(buffer_ms, rel=BUFFER)
    assert {flow.cca.kind for flow in found.flows if flow.cca} == {cca}


TWO_WAY = [
    ("tcp_bidirectional", "cubic", 40, 50, 70),
    ("tcp_bidirectional", "reno", 30, 20, 60),
    ("tcp_bidirectional", "htcp", 15, 40, 150),
    ("rtt_fair_var", "cubic", 35, 25, 90),
    ("rrul_icmp", "cubic", 30, 20, 120),
    ("rrul_icmp", "reno", 15, 40, 90),
    ("rrul_icmp", "cubic", 80, 60, 50),
]
"""Tests both ways whose only delay is that of pings through both queues."""


@pytest.mark.parametrize(("name", "cca", "rate_mbps", "rtt_ms", "buffer_ms"), TWO_WAY)
def test_buffers_are_found_by_pings_through_both(
    tmp_path: Path, name: str, cca: str, rate_mbps: float, rtt_ms: float, buffer_ms: float
) -> None:
    found = errors(tmp_path, name, cca, rate_mbps, rtt_ms, buffer_ms)
    assert found.fits_rate()
    assert abs(found.rtt) <= RTT
    assert abs(found.buffer) <= BUFFER


@dataclass(frozen=True)
class Errors:
    """How far a twin is off, as shares."""

    known_rates: list[float]
    least_rates: list[float]
    """Of directions whose rate is known from below only."""
    rtt: float
    buffer: float

    def fits_rate(self) -> bool:
        return all(abs(one) <= RATE for one in self.known_rates) and all(
            one <= RATE for one in self.least_rates
        )


def errors(folder: Path, name: str, cca: str, rate_mbps: float, rtt_ms: float, buffer_ms: float) -> Errors:
    found = twin(folder, name, cca, path(rate_mbps, rtt_ms, buffer_ms), extra_rtts_ms=(0,))
    known: list[float] = []
    least: list[float] = []
    for way, link in zip(("down", "up"), resolve(found.scenario).links[:2], strict=True):
        assert link.rate_bps is not None
        assert isinstance(link.queue, DropTail)
        assert link.queue.limit_bytes is not None
        is_least = any(line.startswith(f"rate, {way}: at least") for line in found.unknown)
        (least if is_least else known).append(link.rate_bps / (rate_mbps * 1e6) - 1)
        buffer = link.queue.limit_bytes * 8e3 / link.rate_bps / buffer_ms - 1
        rtt = link.delay_s * 2e3 / rtt_ms - 1
    return Errors(known, least, rtt, buffer)


DRAWN, SEED = 40, 1003
"""Paths of a seed at which no constant was looked at."""


def drawn() -> list[tuple[str, str, float, float, float]]:
    random_ = random.Random(SEED)
    found = []
    for _ in range(DRAWN):
        rate_mbps = round(5 * 20 ** random_.random(), 2)
        rtt_ms = round(10 * 15 ** random_.random(), 1)
        buffer_ms = round(rtt_ms * 0.5 * 6 ** random_.random(), 1)
        name = random_.choice(["tcp_bidirectional", "rrul_icmp", "rtt_fair_var"])
        found.append((name, random_.choice(["cubic", "reno", "htcp"]), rate_mbps, rtt_ms, buffer_ms))
    return found


def test_paths_drawn_at_random_are_found_again(tmp_path: Path, cases: Callable[[int], int]) -> None:
    found = [errors(tmp_path, *one) for one in drawn()[: cases(DRAWN)]]
    assert all(one.fits_rate() for one in found)
    assert all(abs(one.rtt) <= RTT for one in found)
    assert sum(abs(one.buffer) <= BUFFER for one in found) >= 0.9 * len(found)
    known, least = (sum(len(getattr(one, key)) for one in found) for key in ("known_rates", "least_rates"))
    assert known > 0
    assert known >= least / 2 - 1  # of few paths, one may be another way round


@pytest.mark.parametrize(("up", "down"), [("cubic", "bbr3"), ("bbr3", "cubic")])
def test_a_queue_that_is_kept_short_is_no_part_of_the_other_way(tmp_path: Path, up: str, down: str) -> None:
    found = twin(tmp_path, "tcp_bidirectional", up, path(30, 40, 150), server_cca=down)
    way, short = ("up", "down") if up == "cubic" else ("down", "up")
    assert any(line.startswith(f"buffer, {short}: bbr3 keeps queues short") for line in found.unknown)
    assert not any("pings waited in both directions" in line for line in found.guessed)
    network = resolve(found.scenario)
    link = network.links[0 if way == "down" else 1]
    assert isinstance(link.queue, DropTail)
    assert link.queue.limit_bytes is not None
    assert link.rate_bps is not None
    assert link.queue.limit_bytes * 8e3 / link.rate_bps == pytest.approx(150, rel=BUFFER)


def test_a_twin_runs_and_gives_what_was_measured(tmp_path: Path) -> None:
    original = library.run(scenario_of(declared("tcp_2up"), path_of(path(20, 30, 60)), Choices(("cubic",))))
    found = twin(tmp_path, "tcp_2up", "cubic", path(20, 30, 60)).scenario
    again = library.run(found)
    assert again.flows["goodput_bps"].sum() == pytest.approx(original.flows["goodput_bps"].sum(), rel=0.03)
    assert again.probes["rtt_s"].median() == pytest.approx(original.probes["rtt_s"].median(), rel=0.15)


def test_each_server_is_as_far_as_its_pings_say(tmp_path: Path) -> None:
    found = twin(tmp_path, "rtt_fair", "cubic", path(50, 10, 40), extra_rtts_ms=(0, 20, 40, 80))
    network = resolve(found.scenario)
    rtts_ms = [network.base_rtt_s(routed) * 1e3 for routed in network.flows]
    assert rtts_ms[::3] == pytest.approx([10, 30, 50, 90], rel=RTT)


def of_servers(rtts_ms: Sequence[float], rise_ms: float, **said: str) -> made.Tree:
    """rtt_fair_up with servers host-a and so on, pings that rise while streams run, and no commands."""
    names = [f"host-{letter}" for letter in "abcd"[: len(rtts_ms)]]
    raw: dict[str, list[made.Tree]] = {}
    meta: dict[str, made.Tree] = {}
    for n, (name, rtt_ms) in enumerate(zip(names, rtts_ms, strict=True), 1):
        upload, ping = f"TCP upload BE{n} {name}", f"Ping (ms) ICMP{n} {name}"
        raw[upload] = made.stream(20.0, 5.0, 15.0)
        raw[ping] = made.pings(rtt_ms + rise_ms, idle_ms=rtt_ms, end_s=20.0)
        meta[upload] = {"RUNNER": "NetperfDemoRunner", "TCP_MSS": made.MSS, **said}
        meta[ping] = {"RUNNER": "PingRunner"}
    said_of_test = {"HOSTS": names, "HOST": names[0], "LENGTH": 10, "TOTAL_LENGTH": 20, "SYSCTLS": {}}
    return made.whole("rtt_fair_up", raw, meta, **said_of_test)


def twin_of_tree(folder: Path, tree: made.Tree) -> Twin:
    file = made.write(tree, folder / "a.flent.gz")
    return twin_of(read_test(file), file)


def test_servers_are_told_apart_by_the_names_of_the_test(tmp_path: Path) -> None:
    rtts_ms = [41.5, 191.5, 491.5, 41.5]
    found = twin_of_tree(tmp_path, of_servers(rtts_ms, 30.0, CONG_CONTROL="cubic"))
    network = resolve(found.scenario)
    of_flows_ms = [network.base_rtt_s(routed) * 1e3 for routed in network.flows]
    assert of_flows_ms == pytest.approx([*rtts_ms, *rtts_ms], rel=RTT)  # pings, then streams
    assert any("farther: host-b 150 ms, host-c 450 ms" in line for line in found.guessed)


def test_a_server_without_pings_is_told(tmp_path: Path) -> None:
    tree = of_servers([41.5, 191.5], 30.0, CONG_CONTROL="cubic")
    for table in (tree["raw_values"], tree["results"]):
        del table["Ping (ms) ICMP2 host-b"]
    found = twin_of_tree(tmp_path, tree)
    assert "RTT to host-b: no ping measured it; the smallest RTT is used" in found.unknown


@pytest.mark.parametrize(
    ("said", "sysctls", "told", "cca"),
    [
        ({}, {}, "unknown; cubic is used instead", "cubic"),
        ({}, {"net.ipv4.tcp_congestion_control": "reno"}, "unknown; reno is used instead", "reno"),
        ({"CONG_CONTROL": "fancycc"}, {}, "Fullpipe has no fancycc; cubic is used instead", "cubic"),
    ],
)
def test_an_algorithm_that_is_not_known_is_told_and_may_fill_buffers(
    tmp_path: Path, said: dict[str, str], sysctls: dict[str, str], told: str, cca: str
) -> None:
    tree = of_servers([41.5], 60.0, **said)
    tree["metadata"]["SYSCTLS"] = sysctls
    found = twin_of_tree(tmp_path, tree)
    assert f"algorithm of TCP upload BE1 host-a: {told}" in found.unknown
    assert [flow.cca.kind for flow in found.scenario.flows if flow.cca] == [cca]
    assert not any("keeps queues short" in line for line in found.unknown)
    link = resolve(found.scenario).links[0]
    assert isinstance(link.queue, DropTail)
    assert link.queue.limit_bytes is not None
    assert link.rate_bps is not None
    assert link.queue.limit_bytes * 8e3 / link.rate_bps == pytest.approx(60, rel=BUFFER)


def test_pings_that_do_not_wait_for_streams_do_not_wait_in_the_twin(tmp_path: Path) -> None:
    found = twin_of_tree(tmp_path, of_servers([41.5, 191.5], 0.4))
    (line,) = [line for line in found.unknown if line.startswith("buffer, up")]
    assert "pings had queueing delays of 0.4 ms at most while streams ran; fq_codel represents" in line
    run = library.run(found.scenario)
    pings = run.flows.filter(pl.col("flow").str.starts_with("Ping"))
    assert ((pings["rtt_p95_s"] - pings["rtt_min_s"]) < 0.001).all()
    assert run.flows["goodput_bps"].sum() == pytest.approx(40e6, rel=0.1)


def test_the_least_queue_keeps_a_link_busy_for_95_percent(tmp_path: Path) -> None:
    test = read_test(made.write(of_servers([40.0], 0.4), tmp_path / "a.flent.gz"))
    least = least_wait_s(test, test.streams, {"host-a": 1.0})
    windows = np.linspace(0.7 * (1 + least), 1 + least, 100_000)  # in round trips of the rate
    assert np.minimum(windows, 1.0).mean() == pytest.approx(0.95, abs=1e-4)


def test_streams_to_farther_servers_need_a_larger_queue_and_many_a_smaller_one(tmp_path: Path) -> None:
    test = read_test(made.write(of_servers([40.0] * 4, 0.4), tmp_path / "a.flent.gz"))
    far = {f"host-{letter}": rtt_s for letter, rtt_s in zip("abcd", (1.0, 2.0, 3.0, 6.0), strict=True)}
    one = least_wait_s(test, test.streams[:1], {"host-a": 1.0})
    assert least_wait_s(test, test.streams, {"host-a": 1.0}) == pytest.approx(one / 2)
    assert least_wait_s(test, test.streams, far) == pytest.approx(3 * one / 2)  # their rates are the same


def test_a_line_of_streams_both_ways_has_the_same_queue(tmp_path: Path) -> None:
    tree = of_servers([41.5], 0.4)
    tree["raw_values"]["TCP download BE1 host-a"] = made.stream(20.0, 5.0, 15.0)
    file = tmp_path / "unpacked.flent"
    file.write_text(json.dumps(tree, sort_keys=True, indent=2))
    topology = fit(read([file])).scenario.to_dict()["topology"]
    assert [topology[way]["queue"]["kind"] for way in ("bottleneck", "reverse")] == ["fq_codel", "fq_codel"]


def test_what_keeps_queues_short_shows_no_buffer(tmp_path: Path) -> None:
    found = twin(tmp_path, "tcp_1up", "vegas", path(20, 30, 200))
    assert any("buffer, up: vegas keeps queues short" in line for line in found.unknown)
    assert all(link.queue is None for link in resolve(found.scenario).links[:2])


def test_pings_through_two_queues_are_a_guess_of_each(tmp_path: Path) -> None:
    found = twin(tmp_path, "tcp_bidirectional", "cubic", path(25, 30, 80))
    assert any("buffer, up: pings waited in both directions" in line for line in found.guessed)


def test_the_rate_of_good_times_is_told_beside_the_mean(tmp_path: Path) -> None:
    tree = made.upload()
    tree["raw_values"]["TCP upload"] = made.stream(5.0, 5.0, 35.0) + made.stream(10.0, 35.0, 65.0)
    file = made.write(tree, tmp_path / "a.flent.gz")
    found = twin_of(read_test(file), file)
    (line,) = [line for line in found.guessed if line.startswith("rate, up")]
    with_headers = (made.MSS + 66) / made.MSS
    rate, mean = (float(number) for number in re.findall(r"([\d.]+) Mbit/s", line))
    assert rate == pytest.approx(10 * with_headers, rel=0.01)
    assert mean == pytest.approx(7.5 * with_headers, rel=0.01)
    assert "exceed this rate in a tenth of all windows of 10 s" in line
    assert resolve(found.scenario).links[0].rate_bps == pytest.approx(rate * 1e6, rel=1e-3)


WMEM = {"net.ipv4.tcp_wmem": "4096\t16384\t4194304"}


def test_streams_that_end_on_the_way_are_told(tmp_path: Path) -> None:
    def told(tree: made.Tree) -> list[str]:
        file = made.write(tree, tmp_path / "a.flent.gz")
        return [line for line in twin_of(read_test(file), file).unknown if "proxy or NAT" in line]

    tree = made.upload("cubic")
    assert not told(tree)
    ends_early(tree)
    (line,) = told(tree)
    assert line.startswith("path of TCP upload: ")


def bounded(folder: Path, sysctls: dict[str, str], buffer_ms: float) -> tuple[library.Run, Twin]:
    """An upload from a socket with 4 MiB, and its twin by the file."""
    scenario = scenario_of(declared("tcp_1up"), path_of(path(45, 4, buffer_ms)), Choices(("cubic",)))
    memory = {"flows.0.tcp.send_memory": "16 KiB", "flows.0.tcp.send_memory_most": "4 MiB"}
    card = {"name": "client", "nic": {"rate": "1 Gbit/s", "queue": {"kind": "fq"}}}
    run = library.run(scenario.with_values({**memory, "hosts": [card]}))
    tree = json.loads(gzip.decompress(flent(run)))
    tree["metadata"] |= {"SYSCTLS": sysctls, "EGRESS_INFO": made.upload()["metadata"]["EGRESS_INFO"]}
    file = made.write(tree, folder / "a.flent.gz")
    return run, twin_of(read_test(file), file)


def test_a_send_buffer_that_bounds_a_flow_is_found_again(tmp_path: Path) -> None:
    run, found = bounded(tmp_path, WMEM, buffer_ms=2000)
    assert any(line.startswith("send buffer, TCP upload: its memory (4194304 B") for line in found.guessed)
    assert any(line.startswith("buffer, up: at least ") for line in found.unknown)
    assert not any(line.startswith("buffer") for line in found.guessed)
    (tcp,) = [flow.tcp for flow in found.scenario.flows if flow.name == "TCP upload"]
    assert tcp is not None
    assert (tcp.send_memory_bytes, tcp.send_memory_most_bytes) == (16 << 10, 4 << 20)
    assert resolve(found.scenario).links[0].queue is None
    (was, now) = (one.flows.filter(flow="TCP upload") for one in (run, library.run(found.scenario)))
    assert now["goodput_bps"][0] == pytest.approx(was["goodput_bps"][0], rel=0.03)
    assert now["rtt_mean_s"][0] == pytest.approx(was["rtt_mean_s"][0], rel=0.05)


@pytest.mark.parametrize(
    ("sysctls", "buffer_ms"),
    [
        pytest.param({}, 2000, id="the file does not say the memory"),
        pytest.param({"net.ipv4.tcp_wmem": "4096\t16384\t67108864"}, 2000, id="far less than the memory"),
        pytest.param({"net.ipv4.tcp_wmem": "4096 many 4194304"}, 2000, id="no numbers"),
        pytest.param(WMEM, 30, id="losses"),
    ],
)
def test_no_send_buffer_is_proposed_without_cause(
    tmp_path: Path, sysctls: dict[str, str], buffer_ms: float
) -> None:
    _, found = bounded(tmp_path, sysctls, buffer_ms)
    assert all(flow.tcp is None or flow.tcp.send_memory_bytes is None for flow in found.scenario.flows)
    (line,) = [line for line in found.guessed if line.startswith("buffer, up")]
    assert ("losses are too few to show that it was full" in line) == (buffer_ms == 2000)


def test_few_losses_say_nothing_of_a_probability(tmp_path: Path) -> None:
    file = made.write(made.upload(), tmp_path / "a.flent.gz")
    found = twin_of(read_test(file), file)
    assert "random loss: 7 packets were retransmitted, and an estimate needs 10" in found.unknown


def test_the_command_proposes_and_says_what_it_guessed(fullpipe: Cli) -> None:
    made.write(made.upload(), "a.flent.gz")
    done = fullpipe("twin", "a.flent.gz")
    assert "# guessed: RTT: 19.8" in done.stdout
    assert "# not known: random loss" in done.stdout
    assert Scenario.from_toml(done.stdout).flows[0].name == "TCP upload"
    assert fullpipe("twin", "a.flent.gz", "-o", "t.toml").exit_code == 0
    assert (
        Scenario.from_file("t.toml").to_dict()
        == json.loads(fullpipe("twin", "a.flent.gz", "--json").stdout)["scenario"]
    )
    text = Path("t.toml").read_text(encoding="utf-8")
    assert text.startswith("# guessed: ")
    assert "# not known: random loss" in text


def test_a_name_in_a_file_stays_within_its_comment(fullpipe: Cli) -> None:
    made.write(made.upload('x\nduration = "9 s"\n\x1b[31m'), "a.flent.gz")
    assert fullpipe("twin", "a.flent.gz", "-o", "t.toml").exit_code == 0
    text = Path("t.toml").read_text(encoding="utf-8")
    assert r"x\nduration = " in text
    assert r"\n\x1b[31m" in text
    assert tomllib.loads(text)["duration"] != "9 s"


def test_streams_that_delivered_nothing_say_no_rate(fullpipe: Cli) -> None:
    tree = made.upload()
    tree["raw_values"]["TCP upload"] = made.stream(0.0)
    made.write(tree, "a.flent.gz")
    done = fullpipe("twin", "a.flent.gz")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "a.flent.gz: the streams delivered nothing, so the rate of the path is unknown" in done.stderr


def test_what_is_no_scenario_is_told_with_its_file(fullpipe: Cli) -> None:
    tree = made.upload()
    tree["raw_values"]["TCP upload"] = made.stream(1e9)
    made.write(tree, "a.flent.gz")
    done = fullpipe("twin", "a.flent.gz")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "a.flent.gz: the test gives no valid scenario: topology" in done.stderr


def without(series: str) -> made.Tree:
    tree = made.upload()
    for table in (tree["raw_values"], tree["results"]):
        del table[series]
    return tree


@pytest.mark.parametrize(
    ("series", "message"),
    [("TCP upload", "no TCP stream has samples"), ("Ping (ms) ICMP", "no ping or probe has samples")],
)
def test_what_is_missing_is_told(fullpipe: Cli, series: str, message: str) -> None:
    made.write(without(series), "a.flent.gz")
    done = fullpipe("twin", "a.flent.gz")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
