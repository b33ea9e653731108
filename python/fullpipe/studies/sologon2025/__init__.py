"""Routes that change under BBRv3 and CUBIC: Sologon, TU Delft 2025."""

from fullpipe.studies.sologon2025.study import checker, jobs, plan, run, transcription

__all__ = ["checker", "jobs", "plan", "run", "transcription"]
