"""Public name of `fullpipe.analysis.metrics`. Both names refer to the same module."""

import sys
from typing import TYPE_CHECKING

from fullpipe.analysis import metrics as _module

if TYPE_CHECKING:
    from fullpipe.analysis.metrics import *  # noqa: F403 - the names themselves, for type checkers

sys.modules[__name__] = _module
