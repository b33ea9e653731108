"""`fullpipe ui`: a page in the browser, served to one user by this process. See docs/explanation/ui.md."""

from fullpipe.cli.ui.command import ui

__all__ = ["ui"]
