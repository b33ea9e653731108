"""Letters of groups, and bands of distribution functions."""

from itertools import combinations
from random import Random

import numpy as np
import pytest

from fullpipe.statistics import compact_letters, dkw_half_width


@pytest.mark.parametrize("seed", range(200))
def test_groups_share_a_letter_exactly_if_they_do_not_differ(seed: int) -> None:
    random = Random(seed)
    n = random.randint(2, 9)
    order = random.sample(range(n), n)
    share = random.random()
    differing = {pair for pair in combinations(range(n), 2) if random.random() < share}
    letters = compact_letters(order, differing)
    for first, second in combinations(range(n), 2):
        shares = bool(set(letters[first]) & set(letters[second]))
        assert shares == ((first, second) not in differing)
    for group, own in enumerate(letters):
        assert len(own) == 1 or all(_is_needed(letters, group, letter) for letter in own)


def _is_needed(letters: list[str], group: int, letter: str) -> bool:
    """Whether a group would lose what it shares with another without a letter."""
    rest = set(letters[group]) - {letter}
    others = (set(own) for other, own in enumerate(letters) if other != group and letter in own)
    return any(not rest & other for other in others)


def test_letters_go_by_the_order_that_is_given() -> None:
    # 0 is least and 3 is most; neighbours do not differ
    far = [(first, second) for first, second in combinations(range(4), 2) if second - first > 1]
    assert compact_letters([3, 2, 1, 0], far) == ["c", "bc", "ab", "a"]
    assert compact_letters([0, 1, 2], []) == ["a", "a", "a"]
    assert compact_letters([2, 0, 1], [(0, 1), (1, 2), (0, 2)]) == ["b", "c", "a"]


def test_the_band_holds_the_whole_function_as_often_as_it_says() -> None:
    rng, n, times = np.random.default_rng(18), 10, 2_000
    values = np.sort(rng.random((times, n)), axis=1)
    above = np.arange(1, n + 1) / n - values
    below = values - np.arange(n) / n
    farthest = np.maximum(above.max(axis=1), below.max(axis=1))
    inside = float((farthest <= dkw_half_width(n)).mean())
    assert 0.95 <= inside < 0.985


@pytest.mark.parametrize(("n", "level"), [(0, 0.95), (5, 1.0)])
def test_mistakes_are_told(n: int, level: float) -> None:
    with pytest.raises(ValueError, match=r"below 1|level"):
        dkw_half_width(n, level)
