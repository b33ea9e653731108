"""What Flent measured on real hosts, as runs. This engine reads files; it runs nothing."""

from fullpipe.engines.flent.run import ENGINE, FILE, NAMES, read_run, save

__all__ = ["ENGINE", "FILE", "NAMES", "read_run", "save"]
