"""The progress of a compilation, from the bar that cargo draws."""

from __future__ import annotations

import sys

import pytest

from scripts import compile as compiling

BAR = r"print('    Building [===>    ] 45/92: pyo3, tcp\r', end='', flush=True)"


def run(program: str, *, terminal: bool) -> int:
    return compiling.run([sys.executable, "-c", f"import time; {program}"], terminal=terminal)


def test_lines_say_how_far_it_is(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "EVERY_S", 0.0)
    assert run(BAR, terminal=False) == 0
    first, *_, last = capfd.readouterr().out.splitlines()
    assert first == "compiling the simulator: 45 of 92 crates, 0 s"
    assert last == "compiled the simulator in 0 s"


def test_a_terminal_has_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(f"{BAR}; time.sleep(0.3); {BAR}", terminal=True) == 0
    shown = capfd.readouterr().out
    assert "\r\033[Kcompiling the simulator: 45 of 92 crates, 0 s" in shown
    assert shown.endswith("\r\033[Kcompiled the simulator in 0 s\n")


def test_nothing_is_said_of_what_took_no_time(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("print('    Finished')", terminal=False) == 0
    assert capfd.readouterr().out == ""


def test_a_failure_is_shown_and_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("print('error: no such crate'); exit(3)", terminal=False) == 3
    assert "error: no such crate" in capfd.readouterr().out


def test_warnings_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("print('warning: unused variable')", terminal=False) == 0
    assert "warning: unused variable" in capfd.readouterr().out
