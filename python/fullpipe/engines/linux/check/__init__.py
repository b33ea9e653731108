"""Checks of the Linux engine: refuses what a kernel, or the way it is used here, cannot do exactly."""
