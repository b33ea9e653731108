"""Public name of `fullpipe.scenario.traces`. Both names refer to the same module."""

import sys
from typing import TYPE_CHECKING

from fullpipe.scenario import traces as _module

if TYPE_CHECKING:
    from fullpipe.scenario.traces import *  # noqa: F403 - the names themselves, for type checkers

sys.modules[__name__] = _module
