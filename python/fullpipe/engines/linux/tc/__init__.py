"""Conversion of the links and queues of a scenario to qdiscs, classes and filters, as the kernel reads them.

`fullpipe.scenario.tc` converts in the other direction, from commands of `tc` to a scenario.
"""
