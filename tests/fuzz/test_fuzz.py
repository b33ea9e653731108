"""20,000 random inputs: each is refused in short clean words or does what it says, within 2 s and 500 MB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.children import started

Try = Callable[[str, int, int], list[dict[str, Any]]]
ROOT = Path(__file__).resolve().parent.parent.parent
INPUTS = {"generated": 7_000, "mutated": 6_000, "texts": 2_500, "recorded": 2_500, "arguments": 2_000}
"""How many of each kind."""
RIGHT = {"ran", "ended", "large", "exit 0"}
"""What becomes of inputs that are not refused."""


@pytest.fixture(scope="module")
def tried() -> Iterator[Try]:
    """Try inputs in a process of its own, which has no memory and no thread of other tests."""
    command = [sys.executable, "-m", "tests.fuzz.children"]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    with started(command, cwd=ROOT, stdin=subprocess.PIPE, stderr=None, env=environment) as process:
        assert process.stdin
        assert process.stdout
        sent, answers = process.stdin, process.stdout

        def order(kind: str, first: int, count: int) -> list[dict[str, Any]]:
            sent.write(f"{kind} {first} {count}\n")
            sent.flush()
            lines: list[dict[str, Any]] = []
            while not lines or "outcomes" not in lines[-1]:
                answer = answers.readline()
                assert answer, f"the process of trials ended with status {process.wait()}"
                lines.append(json.loads(answer))
            assert lines[-1]["kind"] == kind
            return lines

        yield order
        sent.close()
        assert process.wait() == 0


@pytest.mark.parametrize("kind", INPUTS)
def test_every_input_ends_well(tried: Try, kind: str, cases: Callable[[int], int]) -> None:
    count = cases(INPUTS[kind])
    *failed, last = tried(kind, 0, count)
    assert not failed, "\n".join(
        f"python -m tests.fuzz.children {kind} {f['number']} 1: {f['what']}" for f in failed
    )
    outcomes = last["outcomes"]
    assert sum(outcomes.values()) == count
    assert sum(outcomes.get(right, 0) for right in RIGHT) > count / 30, outcomes


def test_what_hangs_eats_memory_or_aborts_is_found(tried: Try) -> None:
    found = {line["number"]: line["what"] for line in tried("itself", 0, 6)[:-1]}
    assert found[0].startswith("died: more than 2.0 s of the processor")
    assert found[1] == "broke: more than 500 MB"
    assert found[2] == "died: SIGABRT"
    assert "ZeroDivisionError" in found[3]
    assert "not printable" in found[4]
    assert 5 not in found
