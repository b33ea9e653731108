"""Flows as packetdrill scripts, which the simulator's TCP plays as in the run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fullpipe import Scenario, _native, run
from fullpipe.analysis.export import packetdrill
from fullpipe.cli import app
from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.runs import Run

OUTAGE = [
    {"at": "1 s", "loss": {"kind": "bernoulli", "probability": 1.0}},
    {"at": "2 s", "loss": {"kind": "bernoulli", "probability": 0.0}},
]


def captured(flow: dict[str, Any] | None = None, **keys: Any) -> Run:
    """A flow of 2 MB over a link that loses all packets for a second."""
    bottleneck = {
        "rate": "8 Mbit/s",
        "delay": "20 ms",
        "queue": {"kind": "drop_tail", "packets": 20},
        "changes": OUTAGE,
    }
    return run(
        Scenario(
            **{
                "name": "outage",
                "duration": "4 s",
                "tcp": {"send_memory": "16 MB", "send_memory_most": "16 MB"},
                "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
                "flows": [{"cca": "cubic", "size": "2 MB", **(flow or {})}],
                "record": {"packets": ["sender"]},
                **keys,
            }
        )
    )


@pytest.fixture(scope="module")
def outage() -> Run:
    return captured()


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"flow": {"cca": "reno"}},
        {"tcp": {"timestamps": False, "send_memory": "16 MB", "send_memory_most": "16 MB"}},
    ],
    ids=["cubic", "reno", "no timestamps"],
)
def test_a_script_passes_on_the_tcp_that_it_comes_from(keys: dict[str, Any]) -> None:
    script = packetdrill(captured(**keys))
    outcome = _native.packetdrill(script)
    assert outcome["verdict"] == "passed", outcome
    assert outcome["packets"] == script.count(" > ") - 2, "all but the SYN and the ACK of the handshake"
    assert outcome["assertions"] > 0


def test_another_algorithm_fails(outage: Run) -> None:
    script = packetdrill(outage).replace("=cubic", "=illinois")
    assert _native.packetdrill(script)["verdict"] == "failed"


def test_the_send_buffer_has_a_size_that_linux_accepts(outage: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["fullpipe.analysis.export.packetdrill"], "_LEAST_MEMORY", 1 << 40)
    assert 'net.ipv4.tcp_wmem="4096 2147483647 2147483647"' in packetdrill(outage)


def test_silences_are_asserted(outage: Run) -> None:
    script = packetdrill(outage)
    assert "assert tcpi_last_data_sent >= " in script
    found = [line for line in script.splitlines() if "assert tcpi_unacked == " in line]
    assert f"silent {len(found)} times" in script.splitlines()[1]


def test_acks_have_all_that_the_sender_received(outage: Run) -> None:
    script = packetdrill(outage)
    acks = outage.packets.filter(outage.packets["kind"] == "ack")
    assert script.count(" < . 1:1(0) ack ") == acks.height
    start, _, end = next(text for text in acks["sacks"].to_list() if text).split()[0].partition("-")
    assert f"sack {int(start) + 1}:{int(end) + 1}" in script


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"record": {"packets": ["receiver"]}}, 'record.packets = \\["sender"\\]'),
        ({"flows": [{"cca": "cubic"}, {"cca": "reno"}]}, "choose one with --flow"),
        ({"flows": [{"workload": {"kind": "ping", "interval": "20 ms"}}]}, "has a workload"),
        ({"tcp": {"ecn": "accecn"}}, "has AccECN"),
        ({"tcp": {"send_memory": "64 kB", "send_memory_most": "64 kB"}}, "raise tcp.send_memory"),
    ],
)
def test_what_no_script_can_show_is_an_error(keys: dict[str, Any], error: str) -> None:
    with pytest.raises(ResultError, match=error):
        packetdrill(captured(**keys))


def test_an_unknown_flow_is_named(outage: Run) -> None:
    with pytest.raises(UnknownNameError, match="other"):
        packetdrill(outage, "other")


def test_the_command_writes_a_script(outage: Run, tmp_path: Path) -> None:
    folder, out = run(outage.scenario, out=tmp_path / "runs").folder, tmp_path / "stall.pkt"
    name = outage.flows["flow"][0]
    result = CliRunner().invoke(app, ["export", str(folder), "--flow", name, "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_text(encoding="utf-8") == packetdrill(outage)
    for arguments in (["--flow", name, "-o", "x.pcapng"], ["--point", "sender", "-o", "x.pkt"]):
        assert CliRunner().invoke(app, ["export", str(folder), *arguments]).exit_code == 2
