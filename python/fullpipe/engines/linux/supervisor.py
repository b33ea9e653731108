"""Supervises one guest: `python supervisor.py FOLDER MEMORY-FOLDER COMMAND...` runs COMMAND in FOLDER.

The supervisor is a separate process, so that no guest and no folder remain even if a signal that fullpipe
cannot catch kills fullpipe. The host's kernel then signals the supervisor, which ends the guest and removes
the folder. This module imports few modules, so that the supervisor starts fast.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_NO_RANDOM_ADDRESSES = 0x0040000
_LIBC = ctypes.CDLL(None, use_errno=True)


def _die_with_parent(sign: int, parent: int) -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, sign, 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the call of prctl
        os.kill(os.getpid(), sign)


def _become_guest(folder: str, memory: str, command: list[str], parent: int) -> None:
    os.setpgid(0, 0)
    _die_with_parent(signal.SIGKILL, parent)
    # Without this call, memory addresses would differ from run to run and affect the sizes of the guest's
    # tables.
    _LIBC.personality(_NO_RANDOM_ADDRESSES)
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open("console", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    # By default, the C library registers memory for rseq with the host's kernel. The guest unmaps this
    # memory, and guests before about Linux 6.9 then crash.
    os.execve(command[0], command, {"TMPDIR": memory, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"})


def main(folder: str, memory: str, command: list[str]) -> int:
    """Run the guest and return its exit code, or 128 plus the number of the signal that ended it."""
    ended: list[int] = []

    def stop(sign: int, _: object) -> None:
        ended.append(sign)
        if guest > 0:
            _end(guest)

    guest = 0
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, stop)
    _die_with_parent(signal.SIGTERM, int(os.environ["FULLPIPE_PARENT"]))
    me = os.getpid()
    guest = os.fork()
    if guest == 0:
        try:
            for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(sign, signal.SIG_DFL)
            _become_guest(folder, memory, command, me)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)
    if ended:
        _end(guest)
    _, status = os.waitpid(guest, 0)
    _end(guest)
    if ended:
        import shutil  # imported only here, because shutil imports many modules

        shutil.rmtree(folder, ignore_errors=True)
        return 128 + ended[0]
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _end(guest: int) -> None:
    """End the guest and the processes that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(guest, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
