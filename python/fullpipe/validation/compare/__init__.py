"""Engines side by side: values, differences, and whether they are equivalent.

Everything here takes finished runs; it runs nothing and draws nothing."""

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.validation.compare.comparison import Comparison, Row, by_engine, closest_to_the_world, compare
from fullpipe.validation.compare.margins import MARGINS, read_margin
from fullpipe.validation.compare.overlay import overlay
from fullpipe.validation.compare.variants import VariantComparison, compare_variants
from fullpipe.validation.compare.verdicts import Equivalence, Judgement, equivalence

__all__ = [
    "MARGINS",
    "Comparison",
    "Equivalence",
    "Judgement",
    "Margin",
    "Row",
    "VariantComparison",
    "by_engine",
    "closest_to_the_world",
    "compare",
    "compare_variants",
    "equivalence",
    "overlay",
    "read_margin",
]
