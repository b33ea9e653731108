"""Bandwidth and delay that vary under CUBIC and BBRv1: Gniaz, TU Delft 2025."""

from fullpipe.studies.gniaz2025.study import jobs, run, transcription

__all__ = ["jobs", "run", "transcription"]
