"""Routes that change under BBRv3 and CUBIC: Sologon, TU Delft 2025."""

from fullpipe.studies.sologon2025.study import jobs, paper, run

__all__ = ["jobs", "paper", "run"]
