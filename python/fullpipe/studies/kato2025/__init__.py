"""Sixteen BBR flows on 1 Gbit/s with small buffers: Kato et al., AFIN 2025."""

from fullpipe.studies.kato2025.study import checker, jobs, plan, run, transcription

__all__ = ["checker", "jobs", "plan", "run", "transcription"]
