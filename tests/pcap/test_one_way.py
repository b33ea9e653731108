"""One-way delays of flows that were captured at both ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Run, Scenario, run
from fullpipe.analysis.export import pcapng
from fullpipe.analysis.packets import delays
from fullpipe.engines.pcap import read_run
from tests.pcap.made import (
    SERVER,
    Record,
    acknowledged,
    interface,
    option,
    packet,
    section,
    written,
)

LOSS = {"kind": "bernoulli", "probability": 0.01}


@pytest.fixture(scope="module", params=["forward", "reverse"])
def both(request: pytest.FixtureRequest) -> Run:
    """A run that was captured at the sender and at the receiver, with losses."""
    link: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "15 ms", "queue": {"packets": 50}, "loss": LOSS}
    return run(
        Scenario(
            name="both",
            duration="5 s",
            topology={"kind": "dumbbell", "bottleneck": link, "reverse": link},
            flows=[{"cca": "cubic", "direction": request.param}],
            record={"packets": ["sender", "receiver"]},
        )
    )


def test_two_captures_tell_one_way_delays(both: Run, tmp_path: Path) -> None:
    measured = read_run(written(tmp_path, pcapng(both)))
    row, truth_s = measured.flows.row(0, named=True), delays(both.packets)["delay_s"]
    assert row["owd_mean_s"] == pytest.approx(truth_s.mean(), rel=0.01)
    assert row["owd_p95_s"] == pytest.approx(truth_s.quantile(0.95), rel=0.01)
    assert "flows.owd_mean_s" in measured.meta.otherwise
    assert any("by the clocks of both captures: at least" in remark for remark in measured.meta.remarks)


def test_one_capture_tells_none(both: Run, tmp_path: Path) -> None:
    measured = read_run(written(tmp_path, pcapng(both, ["sender"])))
    assert measured.flows["owd_mean_s"].to_list() == [None]
    assert measured.meta.otherwise == {}


SENT = acknowledged(0.1 + n / 100 for n in range(40))
TO_SERVER_S, BACK_S = 0.015, 0.025


def twice(shift_s: float) -> bytes:
    """The same flow at its sender and at its receiver, whose clock is ahead by a time."""
    records = list(SENT)
    for one in SENT:
        is_back = one.data[26:30] == bytes(map(int, SERVER.split(".")))
        time_s = one.time_ns * 1e-9 + 1.0 + shift_s + (-BACK_S if is_back else TO_SERVER_S)
        records.append(Record(round(time_s * 1e9), one.data, one.length, 1))
    moved = [replace(one, time_ns=one.time_ns + 10**9) if not one.interface else one for one in records]
    blocks = map(packet, sorted(moved, key=lambda one: one.time_ns))
    names = [interface(options=option(2, name)) for name in (b"near", b"far")]
    return section() + b"".join(names) + b"".join(blocks)


def test_delays_are_of_each_direction(tmp_path: Path) -> None:
    measured = read_run(written(tmp_path, twice(0.0)))
    assert measured.flows["owd_mean_s"].to_list() == pytest.approx([TO_SERVER_S], abs=1e-6)
    assert any("at least 15 ms to the receiver and 25 ms back" in remark for remark in measured.meta.remarks)


@pytest.mark.parametrize("shift_s", [-0.1, 0.1])
def test_clocks_that_differ_tell_none(tmp_path: Path, shift_s: float) -> None:
    measured = read_run(written(tmp_path, twice(shift_s)))
    assert measured.flows["owd_mean_s"].to_list() == [None]
    assert any("the clocks of the two captures differ" in remark for remark in measured.meta.remarks)


def test_two_interfaces_of_one_host_are_no_two_ends(tmp_path: Path) -> None:
    near = [*SENT, *(Record(one.time_ns + 20_000, one.data, one.length, 1) for one in SENT)]
    blocks = map(packet, sorted(near, key=lambda one: one.time_ns))
    data = section() + interface() + interface() + b"".join(blocks)
    assert read_run(written(tmp_path, data)).flows["owd_mean_s"].to_list() == [None]
