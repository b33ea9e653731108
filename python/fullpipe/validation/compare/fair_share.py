"""Sentences that compare the goodput share of a group of flows with its fair share."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fullpipe.analysis.outcome import called, short
from fullpipe.analysis.points import varying
from fullpipe.analysis.regions import region
from fullpipe.analysis.shown import (
    LONGEST,
    begun,
    metric_shown,
    number_shown,
    p_in_words,
    unit_shown,
    words_in,
)
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare.contrast import EQUAL_SHARE, SHARE, fair_shares, shares, told_paths
from fullpipe.validation.compare.finding import Finding
from fullpipe.validation.compare.rules import ALIKE, ERROR, paired
from fullpipe.validation.compare.sentence import ends, margin_in_words, number, value

_SIDES = {"higher": "more than", "lower": "less than", "equivalent": "equivalent to"}


def share_at_points(values: pl.DataFrame, entry: int, labels: Labels | None = None) -> str:
    """A sentence on the goodput share of an entry of `flows`: at how many points it is more or less than its
    fair share, and at how many this is undecided. Empty if the entry has no fair share.

    The tests are those of `contrast.fair_shares`, corrected over all points and groups.

    Args:
        values: See `contrast.shares`.
        entry: Index in `flows`.
        labels: Words for paths and values; default: those of the model.
    """
    own, labels = shares(values).filter(pl.col("entry") == entry), labels or Labels()
    if own.is_empty():
        return ""
    findings = paired(fair_shares(values, entry))
    tested = {repr(each.point): each for each in findings if each.subject.entry == entry}
    points = own.select(told_paths(values)).unique(maintain_order=True).to_dicts() or [{}]
    if len(points) == len(tested) == 1:
        return fair_share(next(iter(tested.values())), len(findings))
    keys = [repr({path: value for path, value in each.items() if value is not None}) for each in points]
    verdicts = [tested[key].verdict if key in tested else "undecided" for key in keys]
    even = own[EQUAL_SHARE].unique().to_list()
    of = f" of {number_shown(even[0], '1', EQUAL_SHARE)} {unit_shown('1', EQUAL_SHARE)}"
    fair, told = f"its fair share{of if len(even) == 1 else ''}", list[str]()
    for verdict, words in _SIDES.items():
        places = [place for place, each in enumerate(verdicts) if each == verdict]
        if places:
            where = region(points, places, labels.names(varying(points)), labels.value)
            at = f"all {_points(len(points))}" if not where else f"{len(places)} of {_points(len(points))}"
            is_short = 0 < words_in(where) <= LONGEST
            told.append(f"{words} {fair} at {at}{f', where {where}' if is_short else ''}")
    if any(each.verdict in ("higher", "lower") and each.p_corrected is not None for each in tested.values()):
        corrected = f" after Holm's correction for {len(findings)} tests" if len(findings) > 1 else ""
        last = sum(each in verdicts for each in ("higher", "lower")) - 1
        told[last] += f" (p < {ERROR:g}{corrected})"
    rest = verdicts.count("undecided")
    others = f"the other {_points(rest) if rest > 1 else 'point'}" if told else _points(rest)
    told += [f"undecided at {others}"] if rest else []
    name = called(own["of"].unique(maintain_order=True).to_list(), entry)
    return short(begun(f"{metric_shown(SHARE, name)}: {'; '.join(told)}."))


def _points(count: int) -> str:
    return f"{count:,} point{'s' if count > 1 else ''}"


def fair_share(found: Finding, tests: int = 1) -> str:
    """A sentence on the goodput share of a group beside others: share, interval, verdict, p value, seeds.

    Args:
        found: A finding of `contrast.fair_shares`.
        tests: Number of tests that are corrected together.
    """
    low, high = (found.reference + end for end in ends(found) or (0.0, 0.0))
    interval = f" [{number(low, found)}, {number(high, found)}]" if found.interval else ""
    fair = f"its fair share of {value(found.reference, found)}"
    verdict = {
        "higher": f", more than {fair}",
        "lower": f", less than {fair}",
        "equivalent": f", equivalent to {fair}, within {margin_in_words(found)}",
    }.get(found.verdict, f"; undecided against {fair}")
    p = [] if found.p_corrected is None else [p_in_words(found.p_corrected)]
    corrected = f" after Holm's correction for {tests} tests" if p and tests > 1 else ""
    why = ", ".join([*(f"{each}{corrected}" for each in p), f"{found.runs:,} seeds"])
    reason = f"; {found.reason}" if found.reason == ALIKE else ""
    return f"{found.of} gets {value(found.other, found)} of the goodput{interval}{verdict} ({why}){reason}."


def with_fair_share(
    told: Sequence[str], values: pl.DataFrame, most: int, labels: Labels | None = None
) -> list[str]:
    """Sentences on runs; after the first, a sentence is inserted on the group whose share differs most from
    its fair share. Nothing is inserted if no share can be tested.

    Args:
        told: The sentences.
        values: See `contrast.shares`.
        most: Maximum number of sentences.
        labels: Words for paths and values; default: those of the model.
    """
    contrasts = fair_shares(values)
    if not contrasts:
        return list(told[:most])
    first = max(contrasts, key=lambda each: abs(each.difference))
    return [*told[:1], share_at_points(values, first.subject.entry or 0, labels), *told[1:]][:most]
