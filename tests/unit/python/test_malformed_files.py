"""Malformed scenario files, which the command line refuses with a message."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]

SCENARIO = """
name = "x"
duration = "10 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }
[[flows]]
cca = "cubic"
"""

MALFORMED: dict[str, bytes] = {
    "empty": b"",
    "not-toml": b"this is = not [ toml",
    "not-utf-8": b'name = "\xff\xfe"',
    "binary": bytes(range(256)),
    "utf-16": SCENARIO.encode("utf-16"),
    "10-mb": b"# filler\n" * 1_200_000,
    "deeply-nested": b"x = " + b"[" * 100_000,
    "duplicate-key": SCENARIO.encode() + b'cca = "reno"\n',
    "wrong-unit": SCENARIO.replace("10 ms", "10 Mbit/s").encode(),
    "no-unit": SCENARIO.replace('"10 ms"', "10").encode(),
    "misspelt-unit": SCENARIO.replace("Mbit/s", "Mbps").encode(),
    "unknown-key": SCENARIO.replace("delay", "dealy").encode(),
    "negative-rate": SCENARIO.replace("10 Mbit/s", "-10 Mbit/s").encode(),
    "zero-flows": SCENARIO.split("[[flows]]", maxsplit=1)[0].encode(),
    "count-of-zero": SCENARIO.encode() + b"count = 0\n",
    "a-billion-flows": SCENARIO.encode() + b"count = 1000000000\n",
    "unknown-algorithm": SCENARIO.replace("cubic", "cubik").encode(),
    "unknown-parameter": SCENARIO.replace('"cubic"', '{ kind = "cubic", bta = 1 }').encode(),
    "parameter-out-of-range": SCENARIO.replace('"cubic"', '{ kind = "cubic", beta = 7.0 }').encode(),
    "bdp-of-an-unbounded-link": SCENARIO.replace('rate = "10 Mbit/s"', "")
    .replace("packets = 20", 'size = "1 bdp"')
    .encode(),
    "nan": SCENARIO.replace("packets = 20", "packets = nan").encode(),
    "infinite-duration": SCENARIO.replace('"10 s"', "inf").encode(),
    "endless-duration": SCENARIO.replace("10 s", "1e99 s").encode(),
    "queue-of-zero": SCENARIO.replace("packets = 20", "packets = 0").encode(),
    "no-queue-limit": SCENARIO.replace(", packets = 20", "").encode(),
    "unknown-topology": SCENARIO.replace("dumbbell", "ring").encode(),
    "warmup-too-long": b'warmup = "1 min"\n' + SCENARIO.encode(),
    "sweep-of-an-unknown-path": SCENARIO.encode() + b'[sweep]\n"topology.bottleneck.rat" = ["1 Mbit/s"]\n',
    "sweep-too-large": SCENARIO.encode()
    + b"[sweep]\n"
    + b"".join(b'"flows.0.%s" = [%s]\n' % (key, b'"1 s",' * 200) for key in (b"start", b"stop")),
    "too-many-samples": SCENARIO.encode() + b'[record]\ninterval = "1 ns"\n',
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_file_is_refused_with_a_message(fullpipe: Cli, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.toml"
    path.write_bytes(MALFORMED[kind])
    result = fullpipe("run", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert 0 < len(result.stderr.splitlines()) <= 5
    assert all(line.startswith("fullpipe: ") and len(line) < 300 for line in result.stderr.splitlines())


@pytest.mark.parametrize("name", [".", "missing.toml", "/dev/null/x.toml", "nul\0.toml", "single-cubik", ""])
def test_what_is_no_scenario_is_refused_with_a_message(fullpipe: Cli, name: str) -> None:
    result = fullpipe("run", name)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)


def test_a_file_that_never_ends_is_refused(fullpipe: Cli) -> None:
    assert "not a regular file" in fullpipe("run", "/dev/zero").stderr


def test_an_unreadable_file_is_refused(fullpipe: Cli, small_file: Path) -> None:
    small_file.chmod(0)
    if os.access(small_file, os.R_OK):
        pytest.skip("this user may read everything")
    assert "cannot be read" in fullpipe("run", small_file).stderr


def test_a_wrong_file_in_a_process_of_its_own_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(MALFORMED["unknown-algorithm"])
    command = [sys.executable, "-m", "fullpipe", "run", "x.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'fullpipe: flows[0].cca: unknown algorithm "cubik"; did you mean "cubic"?\n'


def test_a_file_that_is_not_toml_is_named(fullpipe: Cli, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text("this is = not [ toml", encoding="utf-8")
    result = fullpipe("run", "odd.toml")
    assert result.stderr.startswith("fullpipe: odd.toml: not TOML: ")


def test_a_file_may_begin_with_a_byte_order_mark(fullpipe: Cli, small_file: Path) -> None:
    small_file.write_bytes(b"\xef\xbb\xbf" + small_file.read_bytes())
    assert fullpipe("run", small_file, "--no-store").exit_code == 0
