"""Ad-BBR against five others, the wired part: Wang et al., Future Internet 2025."""

from fullpipe.studies.adbbr2025.study import jobs, run, transcription

__all__ = ["jobs", "run", "transcription"]
