"""Conversion of Linux's queue disciplines, as configured by `tc`, to queues of a scenario.

`fullpipe.engines.linux.tc` converts in the other direction, from a scenario to the kernel.
"""
