"""Public name of `fullpipe.validation.test`. Both names refer to the same module."""

import sys
from typing import TYPE_CHECKING

from fullpipe.validation import test as _module

if TYPE_CHECKING:
    from fullpipe.validation.test import *  # noqa: F403 - the names themselves, for type checkers

sys.modules[__name__] = _module
