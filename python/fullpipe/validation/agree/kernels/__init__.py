"""Catalogues for kernels that are not as they are released: with Google's BBRv3, with TCP Prague."""

from fullpipe.validation.agree.errors import ErrorTarget

LOSSES_AND_MARKS = (
    ErrorTarget("retransmitted", "retransmissions", 80.0, 0.05, 0.25),
    ErrorTarget("marking_rate", "marks", 0.0, 0.05, 0.15),
)
"""Of any of them. A quarter of 80 packets is 20."""
