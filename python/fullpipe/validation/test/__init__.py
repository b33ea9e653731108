"""Tests whether metrics differ by the levels of factors. The unit is a run, and seeds are blocks.

All functions take a table of values. No function runs a scenario or draws a figure.
"""

from fullpipe.validation.compare.finding import Subject
from fullpipe.validation.test.answer import Answer, Family, answer, read_families
from fullpipe.validation.test.conclusion import conclusion
from fullpipe.validation.test.design import Design, designs
from fullpipe.validation.test.factor import Factor, Row
from fullpipe.validation.test.plan import Planned, planned

__all__ = [
    "Answer",
    "Design",
    "Factor",
    "Family",
    "Planned",
    "Row",
    "Subject",
    "answer",
    "conclusion",
    "designs",
    "planned",
    "read_families",
]
