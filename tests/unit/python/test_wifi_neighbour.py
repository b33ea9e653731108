"""Effects of a neighbour on the channel of `wifi-p4-streams` on idle echo requests and on one upload."""

import polars as pl
import pytest

from fullpipe import Scenario, run

UPLOAD = Scenario.named("wifi-p4-streams").expand()[0]


def test_idle_echo_requests_are_late_as_often_as_in_the_public_files() -> None:
    """RTTs of 193 echo requests before eight uploads: 31 % above 6 ms, median 4.4 ms, p95 15.7 ms."""
    idle = UPLOAD.with_values({"duration": "200 s", "flows.0.start": "199 s"})
    rtt_ms = 1e3 * run(idle, seed=1).probes["rtt_s"].drop_nulls()
    assert (rtt_ms > 6).mean() == pytest.approx(0.25, abs=0.06)
    assert rtt_ms.quantile(0.5) == pytest.approx(4.3, abs=0.2)
    assert rtt_ms.quantile(0.95) == pytest.approx(15.7, rel=0.2)


@pytest.mark.parametrize(("cca", "measured_bps"), [("bbr3", 35.6e6), ("cubic", 39.4e6)])
def test_one_upload_gets_what_the_neighbour_leaves(cca: str, measured_bps: float) -> None:
    """A tenth of what the files have: they hold one run each, on a channel that changes."""
    flows = run(UPLOAD.with_values({"flows.0.cca": cca}), seed=1).flows.filter(pl.col("flow") == "upload")
    assert flows["goodput_bps"][0] == pytest.approx(measured_bps, rel=0.1)
