"""A line found again from a capture of a bulk flow."""

from pathlib import Path

import pytest

import fullpipe as library
from fullpipe import Scenario
from fullpipe.analysis.export import pcapng
from fullpipe.errors import InputFileError
from fullpipe.validation.line.fit import fit
from fullpipe.validation.line.read import read
from tests.fit.test_fit import BUFFER, RATE, RTT, scenario_values
from tests.pcap import made

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
