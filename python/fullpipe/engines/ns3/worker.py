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
    run = _opened(program).fullpipe_ns3_run
    return int(run(program_input.encode(), folder.encode(), algorithms.encode()))


def _opened(program: str) -> ctypes.CDLL:
    """The program, with functions found when they are called: LTE of the wheel names windows of GTK, which
    are not in it and never shown."""
    system = ctypes.CDLL(None)
    system.dlopen.restype, system.dlerror.restype = ctypes.c_void_p, ctypes.c_char_p
    handle = system.dlopen(program.encode(), os.RTLD_LAZY)
    if handle is None:
        raise OSError(system.dlerror().decode())
    return ctypes.CDLL(program, handle=handle)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
