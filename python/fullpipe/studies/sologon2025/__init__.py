"""Routes that change under BBRv3 and CUBIC: Sologon, TU Delft 2025."""

from fullpipe.studies.sologon2025.study import jobs, run, transcription

__all__ = ["jobs", "run", "transcription"]
