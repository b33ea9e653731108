"""Comparisons as the page shows them: the conclusion, and findings with the numbers of a terminal."""

from __future__ import annotations

from math import isfinite
from typing import Any

from fullpipe.analysis.bounds import bounds_of_difference
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.shown import axis_shown, difference_shown, margin_shown, number_shown, shown_in
from fullpipe.validation.compare import Finding, VariantComparison
from fullpipe.validation.compare.conclusion import conclusion, weight
from fullpipe.validation.compare.finding import known


def told(made: VariantComparison) -> dict[str, Any]:
    """A comparison as `fullpipe compare --json` has it, the findings that matter most first.

    Returns:
        Besides, `shown`: for every finding its texts, and its place on an axis; see `shown_of`.
    """
    findings = sorted(made.findings, key=weight)
    return {
        **made.to_dict(),
        "conclusion": conclusion([made]),
        "findings": [finding.to_dict() for finding in findings],
        "shown": [shown_of(finding) for finding in findings],
    }


def shown_of(found: Finding) -> dict[str, Any]:
    """The texts of a finding, and its difference as a share of the reference.

    Returns:
        `metric` with its unit; `means` of both sides, `difference` with its interval, and `margin`, as the
        terminal prints them; `share`: see `_share`.
    """
    of = found.unit, found.metric
    name = axis_shown(found.metric)[1] if found.metric in BY_NAME else shown_in(found.metric, found.unit)[1]
    has_value = isfinite(found.difference)
    texts = found.difference, found.interval, found.reference, *of, found.margin
    return {
        "metric": name,
        "means": [number_shown(found.reference, *of), number_shown(known(found.other), *of)],
        "difference": difference_shown(*texts) if has_value else "-",
        "margin": margin_shown(found.margin, *of, has_unit=True),
        "share": _share(found) if has_value else None,
    }


def _share(found: Finding) -> dict[str, float | None] | None:
    """Difference, ends of the interval and margin over the reference; nothing if the reference is 0.

    The interval is truncated at the bounds of the metric, so that a share of -100 % is the lowest.
    """
    if not found.reference:
        return None
    whole = abs(found.reference)
    within = found.interval and found.interval.clipped(*bounds_of_difference(found.metric, found.reference))
    ends = (within.low / whole, within.high / whole) if within else (None, None)
    low, high = (end if end is not None and isfinite(end) else None for end in ends)
    return {"value": found.difference / whole, "low": low, "high": high, "margin": found.allowed / whole}
