"""Print the C header of algorithms in shared objects: `python -m fullpipe.algorithms.header`."""

import sys

from fullpipe._native import CONGESTION_HEADER

if __name__ == "__main__":
    sys.stdout.write(CONGESTION_HEADER)
