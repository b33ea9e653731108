"""Turns the garbage collector off while a command imports: imports leave no garbage."""

import gc


def pause() -> None:
    """Collect nothing until `resume`."""
    gc.disable()


def resume() -> None:
    """Collect again what is made from now on, unless nothing was paused. What was imported stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
