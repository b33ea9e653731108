"""The kernel's packetdrill scripts have the verdicts in packetdrill.json, and the command prints verdicts."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from fullpipe import Scenario, _native
from fullpipe.analysis.export import packetdrill
from fullpipe.cli import app
from fullpipe.engines.linux import drill
from fullpipe.engines.linux.install import installed

if TYPE_CHECKING:
    from collections.abc import Callable

    from fullpipe._native import PacketdrillOutcome
    from fullpipe.engines.linux.engine import LinuxEngine

VERSION = "7.2."
"""Kernel whose scripts the verdicts are about."""


def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((Path(__file__).parent / name).read_text(encoding="utf-8")))


VERDICTS = recorded("packetdrill.json")
"""Names of scripts by verdict, with the reason of those that fail or do not apply."""
SCRIPT = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <...>
  +.1 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
"""
DATA = f"{SCRIPT}   +0 write(4, ..., 2000) = 2000\n   +0 > P. 1:2001(2000) ack 1\n"
SCRIPTS = {
    "a.pkt": (SCRIPT, 3),
    "b.pkt": (DATA, 0),
    "c.pkt": (f"{SCRIPT}+0 %{{ assert tcpi_snd_cwnd == 9 }}%\n", 1),
    "d.pkt": (f"{SCRIPT}+0 < R. 1:1(0) ack 1 win 257\n", 3),
}
"""Scripts that say nothing, pass, fail and do not apply, each with the exit code."""


ON_LINUX = recorded("packetdrill-linux.json")
"""Verdicts of the scripts on a kernel of this version, in the same form."""


def by_script(names_by_verdict: dict[str, Any]) -> dict[str, str]:
    """The verdict of every script."""
    return {name: verdict for verdict, names in names_by_verdict.items() for name in names}


def _scripts() -> list[Path]:
    """The kernel's scripts, which the engine's installation leaves in the cache, by name."""
    folders = sorted(installed.scripts().glob(f"{VERSION}*"))
    if not folders:
        pytest.skip(f"no scripts of Linux {VERSION}x are in the cache; {installed.INSTALL} fetches them")
    return sorted(folders[-1].glob("*.pkt"))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, PacketdrillOutcome]:
    """Outcomes of the kernel's scripts on the simulator's TCP."""
    scripts = _scripts()
    defaults = scripts[0].with_name("defaults.sh").read_text(encoding="utf-8")
    return {path.stem: _native.packetdrill(path.read_text(encoding="utf-8"), defaults) for path in scripts}


def test_every_script_of_the_kernel_has_a_known_verdict(outcomes: dict[str, PacketdrillOutcome]) -> None:
    assert {name: outcome["verdict"] for name, outcome in outcomes.items()} == by_script(VERDICTS)


def test_scripts_that_do_not_apply_have_the_known_reason(outcomes: dict[str, PacketdrillOutcome]) -> None:
    assert VERDICTS["not_applicable"] == {
        name: outcome["reason"]
        for name, outcome in outcomes.items()
        if outcome["verdict"] == "not_applicable"
    }


def test_the_kernel_has_known_verdicts_on_its_scripts(
    linux: LinuxEngine, cases: Callable[[int], int], tmp_path: Path
) -> None:
    """A tenth of the scripts, and all of them in the long tests."""
    if not linux.version().startswith(VERSION):
        pytest.skip(f"the verdicts are those of Linux {VERSION}x")
    scripts = _scripts()
    for script in scripts[:: len(scripts) // cases(len(scripts))]:
        shutil.copy(script, tmp_path)
    shutil.copy(scripts[0].with_name("defaults.sh"), tmp_path)
    result = CliRunner().invoke(app, ["packetdrill", str(tmp_path), "--engine", "linux", "--json"])
    found = {Path(script["script"]).stem: script for script in json.loads(result.output)["scripts"]}
    known = by_script(ON_LINUX)
    assert {name: outcome["verdict"] for name, outcome in found.items()} == {
        name: known[name] for name in found
    }
    assert {name: outcome["reason"] for name, outcome in found.items() if outcome["reason"]} == {
        name: reason for name, reason in ON_LINUX["not_applicable"].items() if name in found
    }


def test_the_model_passes_only_what_the_kernel_passes() -> None:
    """A script that the kernel fails or cannot play is no judge of the model."""
    assert set(VERDICTS["passed"]) <= set(ON_LINUX["passed"])
    assert set(VERDICTS["failed"]) <= set(ON_LINUX["passed"])


def test_a_kernel_plays_scripts(linux: LinuxEngine, folder: Path) -> None:
    (folder / "e.pkt").write_text(f"{SCRIPT}+0 splice(4, NULL, 6, NULL, 1, 0) = 0\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["packetdrill", str(folder), "--engine", "linux", "--json"])
    scripts = {Path(script["script"]).stem: script for script in json.loads(result.output)["scripts"]}
    verdicts = {name: script["verdict"] for name, script in scripts.items()}
    nothing = "says_nothing"
    assert verdicts == {"a": nothing, "b": "passed", "c": "failed", "d": nothing, "e": "not_applicable"}
    assert scripts["c"]["difference"]["seen"] == "tcpi_snd_cwnd = 10"
    alone = CliRunner().invoke(app, ["packetdrill", str(folder / "e.pkt"), "--engine", "linux"])
    assert alone.exit_code == 3
    assert "line 9: not applicable, because the player in the guest lacks the call splice" in alone.output


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("sysctl -q net.ipv4.tcp_congestion_control=nosuch", "the value nosuch of the setting net/ipv4/"),
        ("sysctl -q net.ipv4.tcp_wmem='4096 1 99999999999'", "the value "),
        ("sysctl -q net.ipv4.noscript=1", "the setting net/ipv4/noscript of the kernel"),
        ("sysctl -q net.ipv4.tcp_congestion_control=é", "text that is not ASCII"),
    ],
)
def test_a_setting_that_the_kernel_refuses_does_not_apply(
    linux: LinuxEngine, first: str, reason: str
) -> None:
    refused, other = drill.play([(f"`{first}`\n{DATA}", ""), (DATA, "")])
    assert refused["verdict"] == "not_applicable"
    assert (refused["reason"] or "").startswith(reason)
    assert other["verdict"] == "passed"


def _crash_at_resets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the guest crash at scripts with a reset: a step without its words is read from address 0."""
    plan = _native.packetdrill_plan

    def crashing(script: str, defaults: str) -> PacketdrillOutcome | str:
        return "event 0 absolute 0 0\ninject\nend\n" if "< R" in script else plan(script, defaults)

    monkeypatch.setattr(_native, "packetdrill_plan", crashing)


def test_a_script_that_crashes_the_guest_takes_no_other_verdict_with_it(
    linux: LinuxEngine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _crash_at_resets(monkeypatch)
    result = CliRunner().invoke(app, ["packetdrill", str(folder), "--engine", "linux"])
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == "4 scripts: 1 failed, 1 passed, 1 saying nothing, 1 not applicable"
    assert lines[-1].endswith("lacks an end of this script: the guest crashed")
    alone = CliRunner().invoke(app, ["packetdrill", str(folder / "d.pkt"), "--engine", "linux"])
    assert alone.exit_code == 3


def test_an_engine_that_fails_has_an_exit_code_of_its_own(
    linux: LinuxEngine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _crash_at_resets(monkeypatch)
    for name in ("a.pkt", "b.pkt", "c.pkt"):
        (folder / name).write_text("0 < R. 1:1(0) ack 1 win 257\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["packetdrill", str(folder), "--engine", "linux"])
    assert result.exit_code == 4
    assert "the guest did not finish" in result.output


GOOGLE = recorded("packetdrill-google.json")
"""Names of packetdrill's own scripts (commit 2c4001c) by verdict, on the simulator's TCP and on Linux 7.2."""


@pytest.mark.parametrize("engine", GOOGLE)
def test_scripts_of_packetdrill_have_known_verdicts(engine: str, request: pytest.FixtureRequest) -> None:
    """The variable PACKETDRILL names the folder `gtests/net` of a clone, which is no part of this project."""
    folder = Path(os.environ.get("PACKETDRILL") or pytest.skip("PACKETDRILL names no folder gtests/net"))
    if engine == "linux":
        request.getfixturevalue("linux")
    defaults = (folder / "common/defaults.sh").read_text(encoding="utf-8")
    scripts = {
        str(path.relative_to(folder / "tcp").with_suffix("")): path for path in folder.glob("tcp/**/*.pkt")
    }
    texts = [(path.read_text(encoding="utf-8", errors="replace"), defaults) for path in scripts.values()]
    players = {
        "native": lambda: [_native.packetdrill(*text) for text in texts],
        "linux": lambda: drill.play(texts),
    }
    outcomes = zip(scripts, players[engine](), strict=True)
    assert {name: outcome["verdict"] for name, outcome in outcomes} == by_script(GOOGLE[engine])


def test_no_script_of_packetdrill_fails_that_the_kernel_passes() -> None:
    assert not set(GOOGLE["native"]["failed"]) & set(GOOGLE["linux"]["passed"])


GAP = """
name = "gap"
duration = "14 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "40 ms"
queue = { kind = "drop_tail", size = "80 ms" }
changes = [
  { at = "2050 ms", loss = { kind = "bernoulli", probability = 1.0 } },
  { at = "4050 ms", loss = { kind = "bernoulli", probability = 0.0 } },
]
[topology.reverse]
rate = "10 Mbit/s"
delay = "40 ms"
changes = [{ at = "2050 ms", delay = "2040 ms" }, { at = "4050 ms", delay = "40 ms" }]
[[flows]]
cca = "cubic"
size = "4 MB"
[tcp]
send_memory = "16 MB"
send_memory_most = "16 MB"
[record]
packets = ["sender"]
"""
"""A hand-over: data is lost for two seconds, and ACKs come late. The sender stalls afterwards."""


def test_a_stall_of_a_run_shows_on_the_kernel(linux: LinuxEngine, tmp_path: Path) -> None:
    script = packetdrill(linux.run(Scenario.from_toml(GAP), seed=1))
    silent_ms = [int(text.split(",")[0]) for text in script.split("tcpi_last_data_sent >= ")[1:]]
    assert max(silent_ms) > 3_000
    (outcome,) = drill.play([(script, "")])
    assert outcome["verdict"] == "passed", outcome
    assert outcome["packets"] > 2_000
    assert outcome["assertions"] == 3 * len(silent_ms)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, (text, _) in SCRIPTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_exit_code_tells_the_verdict_of_a_script(folder: Path, name: str) -> None:
    assert CliRunner().invoke(app, ["packetdrill", str(folder / name)]).exit_code == SCRIPTS[name][1]


def test_of_a_folder_failed_scripts_come_first(folder: Path) -> None:
    result = CliRunner().invoke(app, ["packetdrill", str(folder)])
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "4 scripts: 1 failed, 1 passed, 1 saying nothing, 1 not applicable",
        f"{folder}/c.pkt, line 9: failed, assertion at 0.100000 s",
        "  expected: tcpi_snd_cwnd == 9",
        "  seen:     tcpi_snd_cwnd = 10",
        f"{folder}/b.pkt: passed (1 packet compared)",
        f"{folder}/a.pkt: says nothing of this TCP: it compares only fixed packets of a handshake",
        f"{folder}/d.pkt, line 9: not applicable, because the model lacks resets",
    ]
    (folder / "c.pkt").unlink()
    assert CliRunner().invoke(app, ["packetdrill", str(folder)]).exit_code == 0


def test_json_has_the_outcome_of_every_script(folder: Path) -> None:
    result = CliRunner().invoke(app, ["packetdrill", str(folder), "--json"])
    told = json.loads(result.output)
    verdicts = {Path(script["script"]).name: script["verdict"] for script in told["scripts"]}
    assert verdicts == dict(zip(SCRIPTS, ["says_nothing", "passed", "failed", "not_applicable"], strict=True))
    assert told["engine"] == "native"
    assert told["scripts"][2]["difference"]["expected"] == "tcpi_snd_cwnd == 9"


def test_settings_beside_a_script_are_its_defaults(tmp_path: Path) -> None:
    script = tmp_path / "a.pkt"
    lost = "+.2 > P. 1001:2001(1000) ack 1\n"
    script.write_text(f"`./defaults.sh`\n{DATA}{lost}", encoding="utf-8")
    assert CliRunner().invoke(app, ["packetdrill", str(script)]).exit_code == 0
    (tmp_path / "defaults.sh").write_text("sysctl net.ipv4.tcp_early_retrans=0\n", encoding="utf-8")
    assert CliRunner().invoke(app, ["packetdrill", str(script)]).exit_code == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [("+0 frobnicate\n", "a.pkt, line 1: malformed: no packet, call"), (None, "No such file or directory")],
)
def test_a_script_that_cannot_be_read_is_wrong_use(tmp_path: Path, text: str | None, error: str) -> None:
    script = tmp_path / "a.pkt"
    if text:
        script.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["packetdrill", str(script)])
    assert (result.exit_code, error in result.stderr) == (2, True), result.output
    script.unlink(missing_ok=True)
    assert CliRunner().invoke(app, ["packetdrill", str(tmp_path)]).exit_code == 2
