"""Import of Flent's measurements on real hosts as runs. This engine only reads files."""

from fullpipe.engines.flent.run import ENGINE, FILE, NAMES, read_run, save

__all__ = ["ENGINE", "FILE", "NAMES", "read_run", "save"]
