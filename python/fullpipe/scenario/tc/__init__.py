"""Conversion of Linux's queue disciplines, as configured by `tc`, to queues of a scenario."""
