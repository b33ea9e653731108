"""Comparisons: sides, their contrasts, and findings with verdicts.

All functions but `compare_over` take finished runs. No function draws a figure."""

from fullpipe.analysis.metrics.measure import Margin
from fullpipe.validation.compare.comparison import (
    Comparison,
    EngineComparison,
    Row,
    VariantComparison,
    compare_variants,
)
from fullpipe.validation.compare.contrast import MARGINS, read_margin
from fullpipe.validation.compare.engines import by_engine, closest_to_the_world, compare, overlay
from fullpipe.validation.compare.finding import Finding, Subject
from fullpipe.validation.compare.rules import Equivalence, Judgement, equivalence

__all__ = [
    "MARGINS",
    "Comparison",
    "EngineComparison",
    "Equivalence",
    "Finding",
    "Judgement",
    "Margin",
    "Row",
    "Subject",
    "VariantComparison",
    "by_engine",
    "closest_to_the_world",
    "compare",
    "compare_variants",
    "equivalence",
    "overlay",
    "read_margin",
]
