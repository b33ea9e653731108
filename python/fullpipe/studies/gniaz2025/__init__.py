"""Bandwidth and delay that vary under CUBIC and BBRv1: Gniaz, TU Delft 2025."""

from fullpipe.studies.gniaz2025.study import jobs, paper, run

__all__ = ["jobs", "paper", "run"]
