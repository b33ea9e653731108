"""Tables and styled text on a terminal. It takes a while to import."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from fullpipe.cli.output import plain


def terminal(*, stderr: bool = False) -> Console:
    """A terminal that takes text as it is: nothing in it is markup, and control characters are escapes."""
    return _Plain(stderr=stderr, highlight=False, markup=False, emoji=False)


def styled(text: str, style: str) -> Text:
    """Text in a style, such as "bold" or "yellow"."""
    return Text(text, style=style)


def led(text: str, style: str, rest: str) -> Text:
    """Text of which the beginning is in a style."""
    return Text.assemble((text, style), rest)


class _Plain(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is drawn, piece by piece, without what a terminal would obey."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(plain(piece.text), piece.style)
