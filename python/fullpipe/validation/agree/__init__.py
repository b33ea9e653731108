"""Agreement of engines with Linux: a catalogue of cases, and the page of their results.

The page is generated and never edited. The native engine is developed against the cases of the catalogue. The
held-out cases test whether the agreement generalises: the engine is never tuned on them."""

from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.catalogue import cases, held_out_cases
from fullpipe.validation.agree.errors import QUANTITIES, ErrorTarget, chance, errors_of, summarised
from fullpipe.validation.agree.page import page
from fullpipe.validation.agree.suite import (
    LINUX,
    SUITES,
    Found,
    Refused,
    Suite,
    confirmed,
    doubtful,
    job_list,
    run,
    seeds_of,
)

__all__ = [
    "LINUX",
    "QUANTITIES",
    "SUITES",
    "Case",
    "ErrorTarget",
    "Found",
    "Refused",
    "Suite",
    "cases",
    "chance",
    "confirmed",
    "doubtful",
    "errors_of",
    "held_out_cases",
    "job_list",
    "page",
    "run",
    "seeds_of",
    "summarised",
]
