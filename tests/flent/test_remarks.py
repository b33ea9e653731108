"""What data show and Flent does not say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fullpipe.analysis.metrics.summary import summary
from fullpipe.engines.flent import read_run
from tests.flent import made


def remarks(tmp_path: Path, change: Callable[[made.Tree], object], algorithm: str = "cubic") -> str:
    tree = made.upload(algorithm)
    change(tree)
    return "\n".join(read_run(made.write(tree, tmp_path / "a.flent.gz")).meta.remarks)


def of_stream(tree: made.Tree) -> made.Tree:
    found: made.Tree = tree["metadata"]["SERIES_META"]["TCP upload"]
    return found


def as_download(tree: made.Tree) -> None:
    meta = tree["metadata"]["SERIES_META"]
    meta["TCP download"] = made.meta("cubic", upload=False)
    tree["raw_values"]["TCP download"] = made.stream()
    tree["results"]["TCP download"] = tree["results"]["TCP upload"]


def ends_early(tree: made.Tree) -> None:
    for point in tree["raw_values"]["TCP upload"]:
        if "tcp_rtt" in point:
            point["tcp_rtt"] = 0.3


def with_gaps(tree: made.Tree) -> None:
    """Two streams, one of which has values only when it is fast."""
    tree["results"]["TCP upload sum"] = [20.0 if n % 2 else None for n in range(350)]


def of_netperf(tree: made.Tree) -> None:
    points = [{"t": made.T0 + n, "dur": 0.2, "val": 20.0} for n in range(1, 60)]
    tree["raw_values"]["Ping (ms) UDP BE"] = points


def stalls(tree: made.Tree) -> None:
    """netperf as of_netperf has it, and its last sample after a loss."""
    of_netperf(tree)
    tree["raw_values"]["Ping (ms) UDP BE"].append({"t": made.T0 + 69, "dur": 9.0, "val": 4_500.0})


def at_unlike_times(tree: made.Tree) -> None:
    """Two streams of 30 s, one after the other, and the sum that Flent would have if they ran at one time."""
    half = {"BYTES_RECVD": round(made.RATE_MBPS * 1e6 / 8 * 30), "ELAPSED_TIME": 30.0}
    meta, raw, results = tree["metadata"]["SERIES_META"], tree["raw_values"], tree["results"]
    for name, begin_s in (("TCP upload", 5.0), ("TCP upload::2", 35.0)):
        meta[name] = made.meta() | half
        raw[name] = made.stream(begin_s=begin_s, end_s=begin_s + 30)
        results[name] = results["TCP upload"]
    results["TCP upload sum"] = [2 * made.RATE_MBPS] * 350


def one_idle(tree: made.Tree) -> None:
    """Two streams, one after the other, of which the second delivers nothing."""
    at_unlike_times(tree)
    tree["metadata"]["SERIES_META"]["TCP upload::2"]["BYTES_RECVD"] = 0


CASES = [
    ("but the goodput is 9.6 Mbit/s", with_gaps, "cubic"),
    ("its mean is 19.2 Mbit/s, but the goodput is 9.6", at_unlike_times, "cubic"),
    ("DCTCP ran as Reno, because ECN was not negotiated", lambda tree: None, "dctcp-reno"),
    ("congestion control of the server, cubic, not that of the test host, reno", as_download, "reno"),
    ("a proxy or NAT splits these connections into two: the RTT of TCP is 0.3 ms", ends_early, "cubic"),
    ("the MSS of 1460 B leaves no room", lambda tree: of_stream(tree).update(TCP_MSS=1460), "cubic"),
    (
        "TCP_RETRANSMIT is impossible",
        lambda tree: of_stream(tree).update(TCP_RETRANSMIT=1114990368),
        "cubic",
    ),
    ("each value is a mean over one sample", of_netperf, "cubic"),
    ("samples of stalls that are left out: 1", stalls, "cubic"),
    ('all versions of BBR "bbr"; the release 6.8.0 has bbr1', lambda tree: None, "bbr"),
    ("fancycc: Fullpipe has no such algorithm; the scenario has cubic", lambda tree: None, "fancycc"),
    ("the file does not name the algorithm; the scenario has cubic", lambda tree: None, ""),
    ("the path is unknown", lambda tree: None, "cubic"),
]


@pytest.mark.parametrize(("text", "change", "algorithm"), CASES, ids=[text[:30] for text, *_ in CASES])
def test_it_is_said_where_it_is_so_and_nowhere_else(
    tmp_path: Path, text: str, change: Callable[[made.Tree], object], algorithm: str
) -> None:
    assert text in remarks(tmp_path, change, algorithm)
    assert text.startswith("the path") or text not in remarks(tmp_path, lambda tree: None)


def test_the_goodput_of_a_remark_is_that_of_the_table_of_flows(tmp_path: Path) -> None:
    tree = made.upload()
    one_idle(tree)
    run = read_run(made.write(tree, tmp_path / "a.flent.gz"))
    total_mbps = summary(run)["totals"]["goodput_bps"] / 1e6
    assert total_mbps == pytest.approx(made.RATE_MBPS / 2)
    assert f"but the goodput is {total_mbps:.4g} Mbit/s" in "\n".join(run.meta.remarks)


def test_a_name_means_what_the_user_says(tmp_path: Path) -> None:
    run = read_run(made.write(made.upload("bbr"), tmp_path / "a.flent.gz"), {"bbr": "bbr_n_plus"})
    assert run.flows["cca"][0] == "bbr_n_plus"
    assert not any("versions of BBR" in line for line in run.meta.remarks)
