"""Reruns of published studies. Each study has a folder with its printed values, experiments and figures.

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
    """Return the title of a study without importing its package. Raises UnknownNameError."""
    check(name)
    text = (Path(__file__).parent / name / "expected.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["title"])


def check(name: str) -> None:
    """Raise UnknownNameError unless `name` is the name of a study."""
    if name not in names():
        raise UnknownNameError("paper", name, names())


# These names are imported at their first use, because listing studies does not need the modules that run
# them.
__getattr__, __dir__ = lazy.names(
    __name__,
    {
        "Explanation": "explanations",
        "Prepared": "document",
        **dict.fromkeys(("Report", "Settings"), "report"),
        **dict.fromkeys(("explain", "explaining", "jobs", "prepare", "printed", "run"), "again"),
    },
)
