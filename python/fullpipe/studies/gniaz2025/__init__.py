"""Bandwidth and delay that vary under CUBIC and BBRv1: Gniaz, TU Delft 2025."""

from fullpipe.studies.gniaz2025.study import checker, jobs, plan, run, transcription

__all__ = ["checker", "jobs", "plan", "run", "transcription"]
