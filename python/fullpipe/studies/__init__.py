"""Reruns of published studies: one folder per study, with the printed values, the runs and the figures.

>>> from fullpipe import studies
>>> studies.names()
['adbbr2025', 'ahsan2025', 'gniaz2025', 'kato2025', 'sologon2025']
"""

from __future__ import annotations

import pkgutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe.errors import UnknownNameError

if TYPE_CHECKING:
    from fullpipe.studies.again import explain, explaining, jobs, prepare, printed, run
    from fullpipe.studies.document import Prepared
    from fullpipe.studies.explanations import Explanation
    from fullpipe.studies.report import Report, Settings

__all__ = [
    "Explanation",
    "Prepared",
    "Report",
    "Settings",
    "explain",
    "explaining",
    "jobs",
    "names",
    "prepare",
    "printed",
    "run",
    "title",
]


def names() -> list[str]:
    """Return the names of the studies, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def title(name: str) -> str:
    """Return the title of a study without importing the study. Raises UnknownNameError."""
    check(name)
    text = (Path(__file__).parent / name / "expected.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["title"])


def check(name: str) -> None:
    """Raise UnknownNameError unless there is a study of that name."""
    if name not in names():
        raise UnknownNameError("paper", name, names())


# Lazy imports: titles of studies do not need the modules that run studies.
__getattr__, __dir__ = lazy.names(
    __name__,
    {
        "Explanation": "explanations",
        "Prepared": "document",
        **dict.fromkeys(("Report", "Settings"), "report"),
        **dict.fromkeys(("explain", "explaining", "jobs", "prepare", "printed", "run"), "again"),
    },
)
