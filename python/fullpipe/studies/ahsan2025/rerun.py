"""The experiments of the study, run again: which there are, and how claims about them are read."""

from __future__ import annotations

from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.plan import Plan

SEEDS = 10
QUICK_SEEDS = 2


def plan(*, quick: bool) -> Plan:
    """Every experiment with its algorithms."""
    del quick
    return []


def checker(found: Measurements) -> ClaimChecker:
    """What holds claims about the experiments against measurements."""
    return ClaimChecker(found, ())
