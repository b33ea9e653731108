"""The suites: catalogues of cases by name, what is held against the reference, and what their page says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.catalogue import cases
from fullpipe.validation.agree.errors import QUANTITIES, ErrorTarget
from fullpipe.validation.agree.held_out import held_out_cases
from fullpipe.validation.agree.kernels import bbr3, prague


def _none() -> list[Case]:
    return []


@dataclass(frozen=True)
class Suite:
    """Cases that make a page."""

    title: str
    command: str
    """That writes the page."""
    cases: Callable[[], list[Case]]
    held_out: Callable[[], list[Case]] = _none
    quantities: tuple[ErrorTarget, ...] = QUANTITIES
    kernel: str = ""
    """Which kernel the reference is, if not one as it is released, and how it is built."""
    known: str = ""
    """What is known of the differences."""


LINUX = Suite("Agreement between engines", "fullpipe agree", cases, held_out_cases)
"""Against a kernel as it is released."""
SUITES: Mapping[str, Suite] = {
    "linux": LINUX,
    "bbr3": Suite(
        "Agreement with Google's BBRv3",
        "fullpipe agree --suite bbr3",
        bbr3.bbr3_cases,
        quantities=bbr3.QUANTITIES,
        kernel=bbr3.KERNEL,
        known=bbr3.KNOWN,
    ),
    "prague": Suite(
        "Agreement with Linux's TCP Prague",
        "fullpipe agree --suite prague",
        prague.prague_cases,
        quantities=prague.QUANTITIES,
        kernel=prague.KERNEL,
        known=prague.KNOWN,
    ),
}
"""By name; the first is for a kernel as it is released."""
