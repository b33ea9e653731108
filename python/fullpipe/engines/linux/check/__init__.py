"""Checks of the Linux engine: refuses scenarios that the kernel, as used here, cannot run exactly."""
