"""Nine algorithms measured with Flent on a testbed: Ahsan et al., JCBI 2025 ("BBR-n+")."""

from fullpipe.studies.ahsan2025.published import in_folder as published_in
from fullpipe.studies.ahsan2025.study import checker, jobs, plan, run, transcription

__all__ = ["checker", "jobs", "plan", "published_in", "run", "transcription"]
