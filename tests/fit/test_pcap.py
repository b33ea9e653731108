"""A line found again from a capture of a bulk flow."""

import random
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import fullpipe as library
from fullpipe import Scenario
from fullpipe.analysis.export import pcapng
from fullpipe.errors import InputFileError
from fullpipe.validation.fit import fit
from fullpipe.validation.fit.read import read
from tests.fit.test_fit import BUFFER, RATE, RTT, scenario_values
from tests.pcap import made

Cli = Callable[..., Any]
LINES = [
    # direction, point of capture, Mbit/s, ms there and back, ms of buffer
    ("up", "sender", 10, 40, 100),
    ("up", "sender", 4, 20, 150),
    ("down", "receiver", 12, 30, 60),
]


def capture(folder: Path, way: str, point: str, link: dict[str, object], seconds: int = 30) -> Path:
    flow = {"name": "bulk", "cca": "cubic", **({"direction": "reverse"} if way == "up" else {})}
    return captured(folder, [flow], point, link, seconds)


def captured(
    folder: Path, flows: list[dict[str, object]], point: str, link: dict[str, object], seconds: int = 30
) -> Path:
    scenario = Scenario(
        name="x",
        duration=f"{seconds} s",
        topology={"kind": "dumbbell", "bottleneck": link},
        flows=flows,
        record={"interval": "off", "packets": [point]},
    )
    file = folder / "a.pcapng"
    file.write_bytes(pcapng(library.run(scenario), [point]))
    return file


@pytest.mark.parametrize(("way", "point", "rate_mbps", "rtt_ms", "buffer_ms"), LINES)
def test_a_line_is_found_again_from_a_capture(
    tmp_path: Path, way: str, point: str, rate_mbps: float, rtt_ms: float, buffer_ms: float
) -> None:
    link: dict[str, object] = {
        "rate": f"{rate_mbps} Mbit/s",
        "delay": f"{rtt_ms / 2} ms",
        "queue": {"size": f"{buffer_ms} ms"},
    }
    found = fit(read([capture(tmp_path, way, point, link, seconds=15)]))
    assert list(found.ways) == [way]
    assert found.rtt_s == pytest.approx(rtt_ms / 1e3, rel=RTT)
    rate_bps, buffer_s = scenario_values(found)[way]
    assert rate_bps == pytest.approx(rate_mbps * 1e6, rel=RATE)
    assert buffer_s == pytest.approx(buffer_ms / 1e3, rel=BUFFER)


TWO_HOSTS = {
    # when flows to a near host and to a far one run, in s, ms of access delay of the far one, ms of buffer,
    # and whether a buffer is told for which one saw an empty queue
    "one after the other": ((0, 6), (7, 30), 40, 60, True),
    "the far one begins in a queue, and the near one stays": ((0, 30), (3, 30), 10, 200, True),
    "the far one begins in a queue, and stays": ((0, 2), (1, 30), 10, 200, False),
    "both begin at once": ((0, 6), (0, 30), 40, 60, False),
}


@pytest.mark.parametrize("name", list(TWO_HOSTS))
def test_a_buffer_is_found_again_from_flows_to_near_and_far_hosts(tmp_path: Path, name: str) -> None:
    near, far, access_ms, buffer_ms, is_known = TWO_HOSTS[name]
    flows: list[dict[str, object]] = [
        {"cca": "cubic", "start": f"{begin} s", "stop": f"{end} s", **access}
        for (begin, end), access in ((near, {}), (far, {"access": {"delay": f"{access_ms} ms"}}))
    ]
    link: dict[str, object] = {
        "rate": "10 Mbit/s",
        "delay": "10 ms",
        "queue": {"size": f"{buffer_ms} ms"},
    }
    found = fit(read([captured(tmp_path, flows, "receiver", link)]))
    buffer = found.ways["down"].buffer
    assert found.rtt_s == pytest.approx(0.02, rel=RTT)
    assert buffer.wait_s is not None
    assert buffer.is_least != is_known
    if is_known:
        assert buffer.wait_s == pytest.approx(buffer_ms / 1e3, rel=BUFFER)
    else:
        assert buffer.wait_s <= buffer_ms / 1e3
        assert "may never have met an empty queue" in buffer.told


def test_a_capture_that_is_too_short_is_told(tmp_path: Path) -> None:
    file = capture(tmp_path, "up", "sender", {"rate": "100 Mbit/s", "delay": "1 ms"}, seconds=1)
    file.write_bytes(file.read_bytes()[:20_000])
    with pytest.raises(InputFileError, match="no bulk flow"):
        read([file])


@pytest.mark.parametrize("data", [b"\n\r\r\nrest", made.pcap([])])
def test_a_broken_capture_is_told(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.pcap"
    file.write_bytes(data)
    with pytest.raises(InputFileError, match="pcap: "):
        read([file])


def test_the_rtt_of_a_line_that_is_not_full_is_that_of_the_handshake(tmp_path: Path) -> None:
    seldom = made.acknowledged(1 + 0.2 * n for n in range(60))
    found = fit(read([made.written(tmp_path, made.pcap(seldom))]))
    assert found.rtt_s == pytest.approx(0.0401, rel=0.01)
    assert any("including serialisation" in line for line in found.guessed)


def test_a_pause_does_not_hide_the_rate_of_a_line(tmp_path: Path) -> None:
    file = made.written(tmp_path, made.pcap(made.download(20e6, 5, 105.0)))
    assert fit(read([file])).ways["up"].rate_bps == pytest.approx(20e6, rel=RATE)


def test_a_burst_before_a_pause_is_refused_in_one_line(fullpipe: Cli, tmp_path: Path) -> None:
    times_s = [start_s + n / 1000 for start_s, count in ((1, 12), (60, 3)) for n in range(count)]
    done = fullpipe("fit", made.written(tmp_path, made.pcap(made.acknowledged(times_s))))
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "no bulk flow lasts for 1 s" in done.stderr


def test_a_capture_of_loopback_is_read(fullpipe: Cli, tmp_path: Path) -> None:
    ends = ("127.0.0.1", "127.0.0.1")
    times_s = [0.1 + n / 1000 for n in range(2_000)]
    path = made.written(tmp_path, made.pcap(made.acknowledged(times_s, 0.0002, ends=ends)))
    assert fullpipe("fit", path).exit_code == 0


@pytest.mark.parametrize("seed", range(8))
def test_a_capture_of_any_pace_is_fitted_or_refused(fullpipe: Cli, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    gaps_s = [chance.choice([1e-4, 1e-3, 0.02, 0.3, 5, 200]) * chance.random() for _ in range(60)]
    path = made.written(tmp_path, made.pcap(made.acknowledged(accumulate(gaps_s, initial=0.1))))
    done = fullpipe("fit", path)
    assert done.exit_code == 0 or (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output


def test_a_rate_that_no_scenario_has_names_the_file(fullpipe: Cli, tmp_path: Path) -> None:
    path = made.written(tmp_path, made.pcap(made.acknowledged((0.5 + 900 * n for n in range(12)), 800.0, 1)))
    done = fullpipe("fit", path)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"{path}: the measurement gives no valid scenario: " in done.stderr
