"""The native engine: it converts a scenario to a plan for the simulator `fullpipe._native`."""

from fullpipe.engines.native.engine import NativeEngine

__all__ = ["NativeEngine"]
