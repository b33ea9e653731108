"""The process that runs the program: `python -I -S worker.py PARENT PROGRAM INPUT FOLDER ALGORITHMS`.

It is a Python process because the algorithms live in the extension module, which no other can load. Nothing
of fullpipe is imported. It dies with the process that started it, however that ends.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: str, program: str, program_input: str, folder: str, algorithms: str) -> int:
    """Run the program; 0 if all went well."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(parent):  # it ended before it could be watched
        return 1
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = ctypes.CDLL(program).fullpipe_ns3_run
    return int(run(program_input.encode(), folder.encode(), algorithms.encode()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
