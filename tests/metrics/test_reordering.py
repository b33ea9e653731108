"""Reordering by hand, and against paths that reorder or do not."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullpipe
from fullpipe import Scenario, metrics
from fullpipe.errors import ResultError

SCHEMA = ["time_ns", "point", "flow", "kind", "seq", "len", "ts_val"]


def table(rows: list[tuple[object, ...]]) -> pl.DataFrame:
    """Packets of one connection, all from its sender."""
    of_connection = [pl.lit(1).alias("connection"), pl.lit("sender").alias("source")]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(of_connection)


def captured(sent: list[int], received: list[int]) -> pl.DataFrame:
    """Packets of one byte by their sequence numbers, each sent with a timestamp of its own."""
    rows: list[tuple[object, ...]] = [(n, "sender", "a", "data", seq, 1, n) for n, seq in enumerate(sent)]
    stamps = dict(zip(sent, range(len(sent)), strict=True))
    rows += [(100 + n, "receiver", "a", "data", seq, 1, stamps[seq]) for n, seq in enumerate(received)]
    return table(rows)


def test_one_late_packet_by_hand() -> None:
    packets = captured([0, 1, 2, 3, 4, 5], [0, 1, 3, 4, 2, 5])
    assert metrics.reordered_ratio(packets, "a") == pytest.approx(1 / 6)
    assert metrics.reordering_extents(metrics.arrivals(packets, "a")) == [0, 0, 0, 0, 2, 0]


def test_a_loss_is_no_reordering() -> None:
    packets = captured([0, 1, 2, 3], [0, 2, 3])
    assert metrics.reordered_ratio(packets, "a") == 0
    assert metrics.reorder_density(metrics.arrivals(packets, "a")) == {0: 1.0}


def test_copies_are_matched_in_their_order() -> None:
    rows: list[tuple[object, ...]] = [
        (n, point, "a", "data", 7, 1, 5) for n, point in enumerate(["sender"] * 2 + ["receiver"] * 2)
    ]
    assert metrics.arrivals(table(rows), "a") == [0, 1]


def test_density_tells_early_from_late() -> None:
    assert metrics.reorder_density([0, 2, 1, 3]) == {-1: 0.25, 0: 0.5, 1: 0.25}


@given(st.permutations(range(20)))
def test_displacements_cancel_out(places: list[int]) -> None:
    density = metrics.reorder_density(places)
    assert sum(density.values()) == pytest.approx(1)
    assert sum(d * share for d, share in density.items()) == pytest.approx(0)


@given(st.permutations(range(20)))
def test_a_packet_is_reordered_when_a_later_one_came_before(places: list[int]) -> None:
    overtaken = [any(other > place for other in places[:i]) for i, place in enumerate(places)]
    assert [extent > 0 for extent in metrics.reordering_extents(places)] == overtaken


def test_without_a_capture_at_both_ends_it_says_what_is_missing() -> None:
    only = captured([0], [0]).filter(pl.col("point") == "sender")
    with pytest.raises(ResultError, match="receiver"):
        metrics.reordered_ratio(only, "a")


@pytest.mark.parametrize(("jitter", "reorders"), [(None, False), ({"spread": "5 ms", "reorder": True}, True)])
def test_a_path_that_reorders_is_seen_to(jitter: object, reorders: bool) -> None:
    scenario = Scenario.named("single-cubic").with_values(
        {
            "duration": "2 s",
            "record.packets": ["sender", "receiver"],
            **({"topology.bottleneck.jitter": jitter} if jitter else {}),
        }
    )
    run = fullpipe.run(scenario)
    assert (metrics.reordered_ratio(run.packets, "cubic-1") > 0) == reorders
