"""Headings of tables for a terminal, and the numbers in them."""

from textwrap import wrap
from typing import TYPE_CHECKING

from fullpipe.analysis.shown import (
    difference_shown,
    difference_unit_shown,
    margin_shown,
    number_shown,
    point_shown,
    shown_in,
    unit_shown,
    widths_shown,
)

if TYPE_CHECKING:
    from fullpipe.runs.jobs import Job

__all__ = [
    "LONGEST",
    "difference_shown",
    "difference_unit_shown",
    "heading",
    "label",
    "margin_shown",
    "number_shown",
    "point_shown",
    "shown_in",
    "unit_shown",
    "widths_shown",
]
LONGEST = 20
"""Most characters of a line of a heading."""


def label(job: "Job") -> str:
    """Point and seed of a job."""
    return ", ".join([*point_shown(job.point), f"seed {job.seed}"])


def heading(name: str, longest: int = LONGEST) -> str:
    """The name of a group of flows or of a link, in several lines if it is long.

    >>> heading("download-from-the-basement").splitlines()
    ['download-from-the-', 'basement']
    """
    return "\n".join(wrap(name, longest))
