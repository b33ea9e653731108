"""`fullpipe twin` of captures: the path of simulated runs is found again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, run
from fullpipe.analysis.export import pcapng
from tests.pcap.made import (
    ACK,
    CLIENT,
    SERVER,
    SYN,
    Record,
    Tcp,
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
    return float(value) * {"bit/s": 1, "s": 1, "B": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


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
    assert "no flow has both data and ACKs" in done.output


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
    assert "data and ACKs" in done.output


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
    assert f"{path}: what it has is no scenario: " in done.output
