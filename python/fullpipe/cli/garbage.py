"""The collector of garbage while a command starts: imports leave none, and to look for some takes a while."""

import gc


def pause() -> None:
    """Collect nothing until `resume`."""
    gc.disable()


def resume() -> None:
    """Collect again, but never among what there is by now, which stays to the end. Nothing, unless paused."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
