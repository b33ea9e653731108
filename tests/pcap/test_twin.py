"""`fullpipe twin` of captures: the path of simulated runs is found again."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, run
from fullpipe.analysis.export import pcapng
from fullpipe.engines.pcap.run import read_flows
from fullpipe.engines.pcap.twin import twin_of
from tests.pcap.made import (
    ACK,
    CLIENT,
    SERVER,
    SYN,
    Record,
    Tcp,
    acknowledged,
    download,
    ethernet,
    ip4,
    opening,
    pcap,
    record,
    swapped,
    written,
)

Cli = Callable[..., Any]


def exported(folder: Path, *, flows: list[dict[str, Any]], loss: float = 0.0, point: str = "sender") -> Path:
    bottleneck: dict[str, Any] = {
        "rate": "12 Mbit/s",
        "delay": "10 ms",
        "queue": {"kind": "drop_tail", "packets": 60},
    }
    if loss:
        bottleneck["loss"] = {"kind": "bernoulli", "probability": loss}
    made = run(
        Scenario(
            name="line",
            duration="15 s",
            topology={"kind": "dumbbell", "bottleneck": bottleneck},
            flows=flows,
            record={"packets": [point]},
        )
    )
    path = folder / "line.pcapng"
    path.write_bytes(pcapng(made))
    return path


def proposed(fullpipe: Cli, path: Path, *options: str) -> dict[str, Any]:
    done = fullpipe("twin", path, "--json", *options)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def number(text: str) -> float:
    value, unit = text.split()
    scale = {"Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1, "s": 1, "B": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    return float(value) * scale[unit]


@pytest.mark.parametrize("point", ["sender", "receiver"])
@pytest.mark.parametrize("ccas", [["cubic"], ["reno", "cubic"]], ids=str)
def test_the_path_is_found_again(fullpipe: Cli, tmp_path: Path, point: str, ccas: list[str]) -> None:
    flows = [{"cca": cca, "start": f"{n} s"} for n, cca in enumerate(ccas)]
    told = proposed(fullpipe, exported(tmp_path, flows=flows, point=point))
    link = told["scenario"]["topology"]["bottleneck"]
    assert number(link["rate"]) == pytest.approx(12e6, rel=0.01)
    assert number(link["delay"]) == pytest.approx(0.010, rel=0.02)
    assert number(link["queue"]["bytes"]) == pytest.approx(60 * 1514, rel=0.05)
    assert "loss" not in link
    assert any("algorithm of" in line for line in told["unknown"])


def test_random_loss_is_told_from_a_full_buffer(fullpipe: Cli, tmp_path: Path) -> None:
    told = proposed(fullpipe, exported(tmp_path, flows=[{"cca": "cubic"}, {"cca": "reno"}], loss=0.003))
    link = told["scenario"]["topology"]["bottleneck"]
    assert link["loss"]["probability"] == pytest.approx(0.003, rel=0.35)
    assert number(link["rate"]) == pytest.approx(12e6, rel=0.02)


def test_what_an_algorithm_that_keeps_queues_short_does_not_say(fullpipe: Cli, tmp_path: Path) -> None:
    path = exported(tmp_path, flows=[{"cca": "vegas"}])
    told = proposed(fullpipe, path, "--cca", "all=vegas")
    assert not any("algorithm of" in line for line in told["unknown"])
    assert any(line.startswith("buffer") for line in told["unknown"])
    assert [flow["cca"] for flow in told["scenario"]["flows"]] == ["vegas"]


def test_a_twin_lies_beside_its_capture(fullpipe: Cli, tmp_path: Path) -> None:
    path = exported(tmp_path, flows=[{"cca": "cubic"}])
    assert fullpipe("import", path, "--cca", "all=cubic", "--out", "both").exit_code == 0
    assert fullpipe("twin", path, "--cca", "all=cubic", "-o", "twin.toml").exit_code == 0
    assert fullpipe("run", "twin.toml", "--set", "name=line", "--out", "both").exit_code == 0
    done = fullpipe("compare", "both", "--json")
    assert done.exit_code in (0, 1), done.output
    goodputs = [row for row in map(json.loads, done.stdout.splitlines()) if "goodput" in json.dumps(row)]
    assert goodputs


def test_a_capture_without_acks_says_no_length(fullpipe: Cli, tmp_path: Path) -> None:
    done = fullpipe("twin", exported(tmp_path, flows=[{"cca": "cubic"}], point="bottleneck"))
    assert done.exit_code == 2
    assert "no flow has ACKs of data sent only once" in done.output


def opened(count: int, times: int) -> list[Record]:
    """A handshake, and segments that are sent so many times; ACKs only if more than once."""
    syn, answer = Tcp(0, flags=SYN, options=opening()), Tcp(0, 1, SYN | ACK, options=opening())
    found = [(0.0, syn, False), (0.02, answer, True), (0.021, Tcp(1, 1), False)]
    for n in range(count):
        data = Tcp(1 + 1460 * n, 1, payload=1460)
        found += [(0.1 + 0.1 * n + 0.02 * again, data, False) for again in range(times)]
        found += [(0.19 + 0.1 * n, Tcp(1, 1 + 1460 * (n + 1)), True)] * (times > 1)
    return [
        record(time_s, ethernet(ip4(swapped(tcp), (SERVER, CLIENT)) if back else ip4(tcp)), tcp.payload)
        for time_s, tcp, back in found
    ]


@pytest.mark.parametrize("times", [1, 2], ids=["no ACK of data", "all data sent twice"])
@pytest.mark.parametrize("command", ["twin", "fit"])
def test_a_handshake_without_rtts_of_data_says_no_waits(
    fullpipe: Cli, tmp_path: Path, command: str, times: int
) -> None:
    done = fullpipe(command, written(tmp_path, pcap(opened(40, times))))
    assert done.exit_code == 2, done.output
    words = {"twin": "no flow has ACKs of data sent only once", "fit": "has data and ACKs with an RTT"}
    assert words[command] in done.output


def slow(size: int) -> list[Record]:
    """Segments that take 50 minutes each."""
    found = []
    for n in range(12):
        data, ack = Tcp(1 + size * n, 1, payload=size), swapped(Tcp(1, 1 + size * (n + 1)))
        found.append(record(6_000 * n, ethernet(ip4(data)), size))
        found.append(record(6_000 * n + 3_000, ethernet(ip4(ack, (SERVER, CLIENT)))))
    return found


def test_a_round_trip_of_an_hour_takes_no_longer(fullpipe: Cli, tmp_path: Path) -> None:
    began_s = time.process_time()
    proposed(fullpipe, written(tmp_path, pcap(slow(1448))))
    assert time.process_time() - began_s < 20


def test_what_is_no_scenario_names_the_file(fullpipe: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, pcap(slow(1)))
    done = fullpipe("twin", path)
    assert done.exit_code == 2
    assert f"{path}: the capture gives no valid scenario: " in done.output


def test_a_pause_behind_a_download_does_not_hide_its_path(fullpipe: Cli, tmp_path: Path) -> None:
    told = proposed(fullpipe, written(tmp_path, pcap(download(20e6, 5, 105.0))))
    link = told["scenario"]["topology"]["bottleneck"]
    assert number(link["rate"]) == pytest.approx(20e6, rel=0.01)
    assert 2 * number(link["delay"]) == pytest.approx(0.040, rel=0.01)
    assert any(line.startswith("rate: ") for line in told["guessed"])


def test_a_burst_before_a_pause_says_the_least_rate(fullpipe: Cli, tmp_path: Path) -> None:
    times_s = [start_s + n / 1000 for start_s, count in ((1, 12), (60, 3)) for n in range(count)]
    told = proposed(fullpipe, written(tmp_path, pcap(acknowledged(times_s))))
    assert 2 * number(told["scenario"]["topology"]["bottleneck"]["delay"]) == pytest.approx(0.040, rel=0.01)
    assert any(line.startswith("rate: at least") for line in told["unknown"])


def test_the_rtt_of_a_path_that_is_not_full_is_that_of_the_handshake(fullpipe: Cli, tmp_path: Path) -> None:
    seldom = acknowledged(1 + 0.2 * n for n in range(60))
    told = proposed(fullpipe, written(tmp_path, pcap(seldom)))
    assert 2 * number(told["scenario"]["topology"]["bottleneck"]["delay"]) == pytest.approx(0.0401, rel=0.01)
    words = "with the transmission time, because the link was never full for long"
    assert any(words in line for line in told["guessed"])


LOOPBACK = ("127.0.0.1", "127.0.0.1")


def test_both_ends_may_have_one_address(fullpipe: Cli, tmp_path: Path) -> None:
    quick = acknowledged((0.1 + n / 1000 for n in range(200)), rtt_s=0.0002, ends=LOOPBACK)
    told = proposed(fullpipe, written(tmp_path, pcap(quick)))
    assert 2 * number(told["scenario"]["topology"]["bottleneck"]["delay"]) == pytest.approx(0.0003, rel=0.01)
    assert [flow.get("direction", "forward") for flow in told["scenario"]["flows"]] == ["forward"]


def test_ports_tell_directions_on_loopback(fullpipe: Cli, tmp_path: Path) -> None:
    to_server = acknowledged((0.1 + n / 1000 for n in range(200)), ends=LOOPBACK)
    to_client = acknowledged((0.1 + n / 500 for n in range(90)), ends=LOOPBACK, ports=(5_201, 40_001))
    both = sorted(to_server + to_client, key=lambda one: one.time_ns)
    told = proposed(fullpipe, written(tmp_path, pcap(both)))
    directions = {flow["name"]: flow.get("direction", "forward") for flow in told["scenario"]["flows"]}
    assert directions == {
        "127.0.0.1.40000 - 127.0.0.1.5201": "forward",
        "127.0.0.1.5201 - 127.0.0.1.40001": "reverse",
    }


def test_everything_acknowledged_at_once_has_a_rate(fullpipe: Cli, tmp_path: Path) -> None:
    burst = acknowledged([0.1 + n / 10_000 for n in range(12)])
    once = [one for one in burst if one.time_ns < 130_000_000] + burst[-1:]
    told = proposed(fullpipe, written(tmp_path, pcap(once)))
    assert number(told["scenario"]["topology"]["bottleneck"]["rate"]) > 0


@pytest.mark.parametrize("seed", range(8))
def test_a_twin_of_any_pace_has_a_rate_and_an_rtt(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    gaps_s = [chance.choice([1e-4, 1e-3, 0.02, 0.3, 5, 200]) * chance.random() for _ in range(60)]
    path = written(tmp_path, pcap(acknowledged(accumulate(gaps_s, initial=0.1))))
    link = twin_of(read_flows(path), path, {}).scenario.to_dict()["topology"]["bottleneck"]
    assert number(link["rate"]) > 0
    assert 2 * number(link["delay"]) == pytest.approx(0.040, rel=0.01)
