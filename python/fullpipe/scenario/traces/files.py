"""Trace files: read as bytes, with one clear error for one that cannot be a trace."""

from pathlib import Path

from fullpipe import files
from fullpipe.errors import ScenarioError

MAX_FILE_BYTES = 64_000_000
OPPORTUNITY_BYTES = 1504
"""What one opportunity of a packet-delivery trace carries: 1500 bytes of IP and the 4 that a TUN device puts
before them."""
LONGEST_S = 1_000_000
"""What a trace may last: about 11 days."""
LONGEST_GAP_MS = 3_600_000
"""Between two lines. The longest pause of Mahimahi's own traces is 78 s; one of an hour is two recordings in
one file."""


class TraceError(ScenarioError):
    """A trace is wrong: the file, the line, what, and what would be right."""

    def __init__(self, where: str, message: str, line: int | None = None) -> None:
        super().__init__([f"{where}{'' if line is None else f':{line}'}: {message}"])


def read_bytes(path: str | Path) -> bytes:
    """The content of a trace file.

    Raises:
        TraceError: If it is missing, not a regular file, unreadable or larger than 64 MB.
    """
    path = Path(path)
    try:
        files.check_input(path)
        if path.exists() and not path.is_file():
            raise TraceError(str(path), "is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise TraceError(str(path), "no such file") from None
    except (OSError, ValueError) as error:
        raise TraceError(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_FILE_BYTES:
        raise TraceError(str(path), f"larger than {MAX_FILE_BYTES // 1_000_000} MB; cut it into parts")
    return data


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a trace file.

    Raises:
        TraceError: If it cannot be written.
    """
    try:
        files.replace(Path(path), data)
    except (OSError, ValueError) as error:
        raise TraceError(
            str(path), f"cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None
