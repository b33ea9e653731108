"""Public name of `fullpipe.analysis.statistics`. Both names refer to the same module."""

import sys
from typing import TYPE_CHECKING

from fullpipe.analysis import statistics as _module

if TYPE_CHECKING:
    from fullpipe.analysis.statistics import *  # noqa: F403 - the names themselves, for type checkers

sys.modules[__name__] = _module
