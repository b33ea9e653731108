"""How far engines are from Linux: a catalogue of cases, and the page that they give.

The page is generated and never edited. The cases of the catalogue are what the native engine is developed
against; the held-out ones are run to see whether that carries over, and nothing is tuned on them."""

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
