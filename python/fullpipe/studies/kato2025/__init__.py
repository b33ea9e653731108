"""Sixteen BBR flows on 1 Gbit/s with small buffers: Kato et al., AFIN 2025."""

from fullpipe.studies.kato2025.study import jobs, paper, run

__all__ = ["jobs", "paper", "run"]
