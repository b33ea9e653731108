"""Public name of `fullpipe.validation.compare`. Both names refer to the same module."""

import sys
from typing import TYPE_CHECKING

from fullpipe.validation import compare as _module

if TYPE_CHECKING:
    from fullpipe.validation.compare import *  # noqa: F403 - the names themselves, for type checkers

sys.modules[__name__] = _module
