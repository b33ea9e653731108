"""Reading and writing of trace files as bytes, with an error for each kind of invalid file."""

from pathlib import Path

from fullpipe import files
from fullpipe.errors import ScenarioError

MAX_FILE_BYTES = 64_000_000
OPPORTUNITY_BYTES = 1504
"""Bytes per opportunity of a packet-delivery trace: 1500 B of IP and 4 B that a TUN device prepends."""
LONGEST_S = 1_000_000
"""Longest trace: about 11 days."""
LONGEST_GAP_MS = 3_600_000
"""Smallest refused gap between two lines. The longest pause in Mahimahi's own traces is 78 s; a gap of an
hour means that the file has two recordings."""


class TraceError(ScenarioError):
    """A mistake in a trace file. The message has the file, the line, and what to write instead."""

    def __init__(self, where: str, message: str, line: int | None = None) -> None:
        super().__init__([f"{where}{'' if line is None else f':{line}'}: {message}"])


def read_bytes(path: str | Path) -> bytes:
    """Return the content of a trace file.

    Raises:
        TraceError: If the file is missing, not regular, unreadable or larger than 64 MB.
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
        raise TraceError(str(path), f"larger than {MAX_FILE_BYTES // 1_000_000} MB; split the file")
    return data


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a trace file.

    Raises:
        TraceError: If the file cannot be written.
    """
    try:
        files.replace(Path(path), data)
    except (OSError, ValueError) as error:
        raise TraceError(
            str(path), f"cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None
