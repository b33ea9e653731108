"""The window of one flow on a short path, packet by packet, beside Linux 7.2.13.

Measured in the guest of the Linux engine: a Reno flow over 40 Mbit/s, 0.8 ms and five bandwidth-delay
products, sampled every millisecond from its start on. Which burst waits for an ACK, and which does not,
follows from when the application writes and which chunk of data a burst ends (`tcp_sendmsg_locked`,
`tcp_tso_should_defer`).
"""

import polars as pl
import pytest

from fullpipe import Scenario, run

PAYLOAD = 1_448
BY_LINUX = {4: (17, 17), 5: (21, 21), 6: (24, 20), 7: (27, 25)}
"""By milliseconds since the start: window and packets in flight."""


def test_a_flow_on_a_short_path_has_the_window_and_the_flight_of_linux() -> None:
    scenario = Scenario(
        name="short-path",
        duration="20 ms",
        topology={
            "kind": "dumbbell",
            "bottleneck": {
                "rate": "40 Mbit/s",
                "delay": "400 us",
                "queue": {"kind": "drop_tail", "size": "5 bdp"},
            },
        },
        flows=[{"cca": "reno", "start": "1 ms"}],
        record={"interval": "1 ms"},
    )
    series = run(scenario).series
    packets = series.select(
        ms=(pl.col("time_s") * 1e3).round().cast(pl.Int64) - 1,
        window=pl.col("cwnd_bytes") // PAYLOAD,
        flight=pl.col("in_flight_bytes") // PAYLOAD,
    )
    found = {ms: (window, flight) for ms, window, flight in packets.iter_rows() if ms in BY_LINUX}
    assert found == BY_LINUX


@pytest.mark.parametrize(("memory_kib", "linux"), [(256, 12.0), (1024, 3.43)])
def test_a_small_send_buffer_is_overrun_as_on_linux(memory_kib: int, linux: float) -> None:
    """The largest flight of a Reno flow over 200 Mbit/s and 100 ms, in units of its largest send buffer.

    A chunk that is filled up asks for no memory (`tcp_sendmsg_locked`).
    """
    scenario = Scenario(
        name="small-buffer",
        duration="6 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {
                "rate": "200 Mbit/s",
                "delay": "50 ms",
                "queue": {"kind": "drop_tail", "size": "1 bdp"},
            },
        },
        tcp={"send_memory": "16 KiB", "send_memory_most": f"{memory_kib} KiB"},
        flows=[{"cca": "reno"}],
    )
    flight_bytes = max(run(scenario).series["in_flight_bytes"].drop_nulls().to_list())
    assert flight_bytes / (memory_kib * 2**10) == pytest.approx(linux, rel=0.15)
