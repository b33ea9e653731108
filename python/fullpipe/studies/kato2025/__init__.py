"""Sixteen BBR flows on 1 Gbit/s with small buffers: Kato et al., AFIN 2025."""

from fullpipe.studies.kato2025.study import jobs, run, transcription

__all__ = ["jobs", "run", "transcription"]
