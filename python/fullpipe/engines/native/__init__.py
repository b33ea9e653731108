"""The native engine: a scenario becomes a plan, which the simulator of `fullpipe._native` runs."""

from fullpipe.engines.native.engine import NativeEngine

__all__ = ["NativeEngine"]
