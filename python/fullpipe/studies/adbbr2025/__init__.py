"""Ad-BBR against five others, the wired part: Wang et al., Future Internet 2025."""

from fullpipe.studies.adbbr2025.study import jobs, paper, run

__all__ = ["jobs", "paper", "run"]
