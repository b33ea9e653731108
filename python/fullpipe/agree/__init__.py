"""How far engines are from Linux: a catalogue of cases, and the page that they give.

The page is generated and never edited. The cases of the catalogue are what the native engine is developed
against; the held-out ones are run to see whether that carries over, and nothing is tuned on them."""

from fullpipe.agree.case import Case
from fullpipe.agree.catalogue import cases
from fullpipe.agree.errors import QUANTITIES, Quantity, chance, errors_of, summarised
from fullpipe.agree.held_out import held_out_cases
from fullpipe.agree.page import page
from fullpipe.agree.suite import Found, Refused, plan, run, seeds_of

__all__ = [
    "QUANTITIES",
    "Case",
    "Found",
    "Quantity",
    "Refused",
    "cases",
    "chance",
    "errors_of",
    "held_out_cases",
    "page",
    "plan",
    "run",
    "seeds_of",
    "summarised",
]
