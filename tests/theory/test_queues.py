"""What queue disciplines promise flows: delays near their targets, and equal shares."""

from functools import cache
from statistics import fmean
from typing import Any

import pytest

import fullpipe

RATE_MBPS = 50


@cache
def run(queue: tuple[tuple[str, Any], ...], flows: tuple[str, ...]) -> fullpipe.Run:
    table = dict(queue)
    shaped = "bandwidth_bps" in table
    return fullpipe.run(
        fullpipe.Scenario(
            name="queue",
            duration="40 s",
            warmup="10 s",
            topology={
                "kind": "dumbbell",
                "bottleneck": {"delay": "20 ms", "queue": table}
                | ({} if shaped else {"rate": f"{RATE_MBPS} Mbit/s"}),
                "reverse": {"delay": "20 ms"},
            },
            flows=[{"cca": cca, "start_jitter": "100 ms"} for cca in flows],
            record={"interval": "off"},
        ),
        seed=1,
    )


def sojourn_ms(run: fullpipe.Run) -> float:
    (link,) = (link for link in run.summary()["links"] if link["link"] == "bottleneck")
    return 1e3 * float(link["sojourn_mean_s"])


def goodputs(run: fullpipe.Run) -> list[float]:
    return [flow["goodput_bps"] for flow in run.summary()["flows"]]


def jain(shares: list[float]) -> float:
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


CAKE = (("kind", "cake"), ("bandwidth_bps", RATE_MBPS * 1_000_000))
MIX = ("reno", "cubic", "bbr1", "bbr3", "vegas", "illinois", "htcp", "westwood")


@pytest.mark.parametrize("kind", ["fq", "fq_codel", "fq_pie", "cake"])
def test_fair_queues_share_equally_between_any_algorithms(kind: str) -> None:
    queue = CAKE if kind == "cake" else (("kind", kind),)
    shares = goodputs(run(queue, MIX))
    assert jain(shares) >= 0.99


def test_without_a_fair_queue_the_same_flows_do_not_share_equally() -> None:
    assert jain(goodputs(run((("kind", "codel"),), MIX))) < 0.9


@pytest.mark.parametrize("flows", [5, 20])
def test_pie_holds_reno_flows_at_a_delay_of_15_ms(flows: int) -> None:
    assert sojourn_ms(run((("kind", "pie"),), ("reno",) * flows)) == pytest.approx(15, abs=1.5)


@pytest.mark.parametrize("flows", [5, 20])
def test_dualpi2_holds_classic_flows_at_a_delay_of_15_ms(flows: int) -> None:
    assert sojourn_ms(run((("kind", "dualpi2"),), ("reno",) * flows)) == pytest.approx(15, abs=1.5)


def test_every_flow_of_fq_codel_waits_between_5_and_15_ms() -> None:
    assert 4 < sojourn_ms(run((("kind", "fq_codel"),), ("cubic",) * 20)) < 15


def test_cake_at_100_mbit_holds_five_flows_below_10_ms() -> None:
    queue = (("kind", "cake"), ("bandwidth_bps", 100_000_000))
    assert sojourn_ms(run(queue, ("cubic",) * 5)) < 10


def test_reno_behind_one_bdp_of_drop_tail_sees_every_delay_from_none_to_b_over_c() -> None:
    scenario = fullpipe.Scenario(
        name="bdp",
        duration="120 s",
        warmup="30 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"size": "1 bdp"}},
            "reverse": {"delay": "20 ms"},
        },
        flows=[{"cca": "reno"}],
        record={"interval": "10 ms"},
    )
    done = fullpipe.run(scenario, seed=1)
    links = done.links.filter(done.links["link"] == "bottleneck")
    late = links.filter(links["time_s"] > 30)
    assert (fmean(late["utilisation"]), late["backlog_bytes"].min()) == (pytest.approx(1, abs=0.01), 0)
    assert 8 * late["backlog_bytes"].max() / 20e6 == pytest.approx(0.040, rel=0.05)
