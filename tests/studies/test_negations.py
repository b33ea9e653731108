"""Every claim of every study on numbers that fulfil it, and on numbers that say the opposite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from fullpipe.studies import adbbr2025, gniaz2025, kato2025, sologon2025
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.claims import UNMEASURED, Claim
from fullpipe.studies.experiments import Measurements, Value
from fullpipe.studies.verdicts import Verdict

SEEDS = 6
STEPS = (1, 2, 3)
OTHERS = ("a", "b", "c", "d", "e")
Where = Mapping[str, Value]
Value_ = Callable[[Where], float]
CLAIMS = [
    pytest.param(claim, id=f"{study.__package__.rpartition('.')[2]} {claim.id}".replace(" ", "_"))
    for study in (kato2025, gniaz2025, sologon2025, adbbr2025)
    for claim in study.transcription().claims
    if claim.kind not in UNMEASURED
]


@dataclass
class Made(Measurements):
    """Measurements that a function of the conditions makes, with a spread that no verdict depends on."""

    value: Value_ = field(default=lambda _: 0.0)
    spread: float = 1e-6

    def at(self, experiment: str, quantity: str, algorithm: str, where: Where) -> list[float]:
        value = self.value({**where, "quantity": quantity, "algorithm": algorithm})
        return [value * (1 + self.spread * (seed - (SEEDS - 1) / 2)) for seed in range(SEEDS)]

    def open(self, experiment: str, quantity: str, algorithm: str, where: Where) -> set[str]:
        return set()

    def choices(self, experiment: str, key: str) -> list[Value]:
        return list(STEPS)


def verdict_on(claim: Claim, value: Value_) -> Verdict:
    is_exact = claim.kind == "bounds" and len(set(claim.what.values())) < len(claim.what)
    found = Made(value=value, spread=0.0 if is_exact else 1e-6)
    (checked,) = ClaimChecker(found, ("reading",), others=OTHERS).check(claim)
    return checked.verdict


def on_side(side: Mapping[str, Any], other: Mapping[str, Any], where: Where) -> bool:
    """Whether conditions are those of a side of a comparison: the other may name what `each` varies."""
    if side:
        return all(where.get(key) == value for key, value in side.items())
    return any(where.get(key) != value for key, value in other.items())


def comparison(claim: Claim, right: bool) -> Value_:
    high, low = (3.0, 1.0) if right else (1.0, 3.0)
    if claim.kind == "higher":
        return lambda where: high if on_side(claim.what, claim.lower, where) else low
    if claim.kind in ("rising", "falling"):
        sign = 1 if (claim.kind == "rising") == right else -1
        return lambda where: 10.0 + sign * float(where[claim.what])
    mine = claim.where["algorithm"]
    best, worst = (1.0, 3.0) if claim.kind == "lowest" else (3.0, 1.0)
    return lambda where: (best if right else worst) if where["algorithm"] == mine else 2.0


def bounded(claim: Claim, right: bool) -> Value_:
    low = max((v for k, v in claim.what.items() if k in ("above", "at_least")), default=None)
    high = min((v for k, v in claim.what.items() if k in ("below", "at_most")), default=None)
    if low is not None and high is not None:
        return lambda _: (low + high) / 2 if right else high * 1.001
    bound, up = (low, right) if low is not None else (high, not right)
    assert bound is not None
    return lambda _: bound * (1.001 if up else 0.999) + (0 if bound else 0.001 * up)


def changed(claim: Claim, right: bool) -> Value_:
    """An algorithm against one of 100; what is printed as no change is changed by far, either way."""
    assert claim.between
    middle, wide = claim.between.middle, claim.between.high - claim.between.low
    change = middle if right else -middle if abs(middle) > wide else middle - 9 * wide
    against = 100.0
    of = against + change if claim.points else against * (1 + change / 100)
    return lambda where: of if where["algorithm"] == claim.what["of"] else against


def number(claim: Claim, right: bool) -> Value_:
    """A number that is printed, or one far from it and on the other side of its reference condition."""
    assert claim.between
    middle, reference = claim.between.middle, claim.against
    if reference is None:
        wide = claim.between.high - claim.between.low
        far = middle / 2 + 2 * wide if claim.ceiling is None else (middle - claim.ceiling) / 2
        return lambda _: middle if right else middle + far

    def value(where: Where) -> float:
        is_reference = all(where.get(key) == of for key, of in reference.where.items())
        return reference.printed if is_reference else middle if right else 2 * reference.printed - middle

    return value


def made(claim: Claim, right: bool) -> Value_:
    kinds = {"bounds": bounded, "change": changed, "between": number}
    return kinds.get(claim.kind, comparison)(claim, right)


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_fulfils_a_claim_reproduces_it(claim: Claim) -> None:
    assert verdict_on(claim, made(claim, right=True)) is Verdict.REPRODUCED


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_opposite_of_a_claim_is_not_reproduced_nor_in_its_direction(claim: Claim) -> None:
    assert verdict_on(claim, made(claim, right=False)) is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize("claim", [p for p in CLAIMS if p.values[0].kind == "change"])
def test_no_change_is_not_a_change_the_other_way_round(claim: Claim) -> None:
    assert claim.between
    if claim.between.low <= 0 <= claim.between.high:
        more = claim.between.high * 9

        def value(where: Where) -> float:
            of = where["algorithm"] == claim.what["of"]
            return 100.0 + of * more if claim.points else 100.0 * (1 + of * more / 100)

        assert verdict_on(claim, value) is Verdict.NOT_REPRODUCED
