"""The process that runs the program: `python -I -S worker.py PARENT PROGRAM INPUT FOLDER ALGORITHMS`.

The process runs Python because the algorithms are in the extension module, which only Python can load. The
process does not import fullpipe. The kernel kills the process when its parent process ends for any reason.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: str, program: str, program_input: str, folder: str, algorithms: str) -> int:
    """Run the program. Return 0 on success."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(parent):  # the parent ended before prctl
        return 1
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = _opened(program).fullpipe_ns3_run
    return int(run(program_input.encode(), folder.encode(), algorithms.encode()))


def _opened(program: str) -> ctypes.CDLL:
    """Load the program with lazy binding, because the wheel's LTE library refers to GTK functions. The wheel
    lacks these functions, and the program never calls them."""
    system = ctypes.CDLL(None)
    system.dlopen.restype, system.dlerror.restype = ctypes.c_void_p, ctypes.c_char_p
    handle = system.dlopen(program.encode(), os.RTLD_LAZY)
    if handle is None:
        raise OSError(system.dlerror().decode())
    return ctypes.CDLL(program, handle=handle)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
