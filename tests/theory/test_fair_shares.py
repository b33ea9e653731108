"""Max-min fair rates, by their definition: each flow crosses a full link on which no flow has more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe.analysis.expected import max_min

LINKS = st.dictionaries(st.integers(0, 4), st.floats(1, 1e9), min_size=1)


def test_a_parking_lot_gives_every_flow_half_of_a_link() -> None:
    routes = [{0, 1, 2}, {0}, {1}, {2}]
    assert [rate for _, rate in max_min(dict.fromkeys(range(3), 20.0), routes)] == [10.0] * 4


def test_what_a_flow_cannot_use_goes_to_the_others() -> None:
    assert max_min({0: 30.0, 1: 4.0}, [{0}, {0}, {0, 1}]) == [(0, 13.0), (0, 13.0), (1, 4.0)]


def test_a_flow_without_a_link_has_no_fair_rate() -> None:
    with pytest.raises(ValueError, match="one link or more"):
        max_min({0: 1.0}, [set()])


@given(st.data(), LINKS)
def test_each_flow_crosses_a_full_link_on_which_no_flow_has_more(
    data: st.DataObject, capacities: dict[int, float]
) -> None:
    route = st.sets(st.sampled_from(sorted(capacities)), min_size=1)
    routes: Sequence[set[int]] = data.draw(st.lists(route, min_size=1, max_size=8))
    found = max_min(capacities, routes)
    rates = [rate for _, rate in found]
    for (link, rate), own in zip(found, routes, strict=True):
        beside = [other for other, crossed in zip(rates, routes, strict=True) if link in crossed]
        assert link in own
        assert sum(beside) == pytest.approx(capacities[link])
        assert rate == pytest.approx(max(beside))
