"""Ad-BBR against five others, the wired part: Wang et al., Future Internet 2025."""

from fullpipe.studies.adbbr2025.study import checker, jobs, plan, run, transcription

__all__ = ["checker", "jobs", "plan", "run", "transcription"]
