"""Times to load web pages."""

import polars as pl

from fullpipe import Scenario, metrics, run


def transfers(rows: list[tuple[str, int | None, float, float, float | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["flow", "page", "start_s", "end_s", "fct_s"], orient="row")


def test_a_page_lasts_from_its_first_object_to_its_last() -> None:
    table = transfers([("web", 1, 1.0, 1.5, 0.5), ("web", 1, 1.5, 2.25, 0.75), ("web", 2, 4.0, 4.5, 0.5)])
    assert metrics.page_times_s(table).to_list() == [1.25, 0.5]


def test_a_page_that_is_not_whole_is_left_out() -> None:
    assert metrics.page_times_s(transfers([("web", 1, 1.0, 1.5, 0.5), ("web", 1, 1.5, 9.0, None)])).is_empty()


def test_what_is_no_page_is_left_out() -> None:
    assert metrics.page_times_s(transfers([("bulk", None, 1.0, 1.5, 0.5)])).is_empty()


def test_pages_of_several_flows_stay_apart() -> None:
    table = transfers([("a", 1, 0.0, 1.0, 1.0), ("b", 1, 5.0, 7.0, 2.0)])
    assert metrics.page_times_s(table).to_list() == [1.0, 2.0]


def test_a_web_flow_has_a_page_load_time() -> None:
    scenario = Scenario(
        name="web",
        duration="20 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "20 Mbit/s", "delay": "10 ms"}},
        flows=[
            {"name": "web", "cca": "cubic", "workload": "web"},
            {"name": "bulk", "cca": "cubic", "stop": "1 s"},
        ],
        record={"interval": "off"},
    )
    values = metrics.measured(run(scenario), metrics=["page_p50"]).filter(kind="flows")
    known = dict(values.select("of", "value").iter_rows())
    assert known["web"] > 0.02
    assert known["bulk"] is None
