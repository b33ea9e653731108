"""Whatever a scenario says of an LTE or NR cell: no packet appears or vanishes, those of a flow stay in
order, and the same seed gives the same bytes."""

from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st

from fullpipe import Scenario
from fullpipe.scenario.model.cells.cellular import limits
from fullpipe.scenario.model.cells.presets import LTE_RESOURCE_BLOCKS as LTE_WIDTHS
from fullpipe.scenario.model.cells.presets import NR_RESOURCE_BLOCKS as NR_WIDTHS
from tests.random_cells import around, check_all, flows

CELLS = 1_000


def times_ms(least: int, most: int) -> st.SearchStrategy[str]:
    """Whole milliseconds."""
    return st.integers(least, most).map("{} ms".format)


@cache
def queues() -> st.SearchStrategy[dict[str, Any]]:
    """Queues of all users or of one user."""
    return st.one_of(
        st.builds(lambda n: {"packets": n}, st.integers(1, 60)),
        st.builds(lambda n: {"bytes": f"{n} kB"}, st.integers(2, 1_500)),
        st.builds(lambda n: {"kind": "fq_codel", "limit": n}, st.integers(1, 60)),
    )


@st.composite
def carriers(draw: st.DrawFn) -> dict[str, Any]:
    """A kind, and a carrier that it has."""
    kind = draw(st.sampled_from(["lte", "nr"]))
    said = {"kind": kind, "layers": draw(st.integers(1, limits(kind).layers))}
    if kind == "lte":
        return {**said, "width": draw(st.sampled_from(list(LTE_WIDTHS)))}
    spacing = draw(st.sampled_from(list(NR_WIDTHS)))
    return {**said, "spacing": spacing, "width": f"{draw(st.sampled_from(list(NR_WIDTHS[spacing])))} MHz"}


@cache
def changes() -> st.SearchStrategy[dict[str, Any]]:
    """Optional settings of a cell other than its carrier."""
    return st.fixed_dictionaries(
        {},
        optional={
            "queue": queues(),
            "pattern": st.sampled_from(["FDD", "DDDSU", "DSUDDDSUDD", "DU"]),
            "special": st.sampled_from(["10:2:2", "6:4:4"]),
            "scheduler": st.sampled_from(["round_robin", "proportional_fair"]),
            "fairness_slots": st.integers(1, 1_000),
            "delay": times_ms(0, 20),
            "rlc": st.sampled_from(["am", "um"]),
            "harq": st.fixed_dictionaries(
                {"tries": st.integers(1, 5)}, optional={"round_trip": times_ms(1, 9)}
            ),
            "uplink": st.fixed_dictionaries(
                {"request_period": times_ms(1, 20), "grant_delay": times_ms(0, 20)},
                optional={"first_grant": st.sampled_from(["40 B", "2 kB"])},
            ),
            "cqi": st.fixed_dictionaries({"period": times_ms(1, 40), "delay": times_ms(0, 10)}),
            "drx": st.fixed_dictionaries({"cycle": times_ms(20, 320)}),
            "background": st.fixed_dictionaries({"users": st.integers(0, 3), "load": st.just(0.5)}),
            "gaps": st.just([{"at": "50 ms", "gap": "30 ms", "every": "200 ms"}]),
        },
    )


@cache
def users(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """One but for its name."""
    ratio = st.sampled_from(["14 dB", {"mean": "18 dB", "spread": "4 dB", "memory": "100 ms"}])
    fixed = st.integers(0, limits(kind).mcs).map(lambda mcs: {"mcs": mcs})
    blockage = st.just({"depth": "20 dB", "lasting": "20 ms", "free": "200 ms"})
    heard = st.fixed_dictionaries({"snr": ratio}, optional={"blockage": blockage})
    by_itself = st.fixed_dictionaries({"rate": fixed, "errors": st.sampled_from([0.0, 0.1, 0.4])})
    goes = st.integers(0, 250).map(lambda ms: [{"at": f"{ms} ms", "gap": "40 ms"}])
    own = st.fixed_dictionaries({}, optional={"queue": queues(), "handovers": goes})
    return st.builds(lambda one, other: {**one, **other}, st.one_of(heard, by_itself), own)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A cell with flows of its users."""
    carrier = draw(carriers())
    said = draw(st.lists(users(carrier["kind"]), min_size=1, max_size=4))
    names = [f"u{n}" for n in range(len(said))]
    joined = [{**user, "node": name} for user, name in zip(said, names, strict=True)]
    return around({**carrier, **draw(changes()), "name": "mast", "users": joined}, flows=draw(flows(names)))


def test_any_cell_conserves_orders_and_repeats(cases: Callable[[int], int]) -> None:
    check_all(scenarios(), cases(CELLS))
