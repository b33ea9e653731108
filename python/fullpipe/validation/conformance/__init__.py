"""The example tests of the IETF's BBR draft, run against any algorithm.

draft-ietf-ccwg-bbr-06, appendix A, lists 22 example tests. Each is a case here: one or two scenarios, and
steps in the draft's terms that are looked up in the tables of the run and in the variables that the algorithm
published. Cases that need what an algorithm never publishes do not apply to it.

>>> from fullpipe import conformance
>>> [case.section for case in conformance.cases()][:3]
['A.1', 'A.2', 'A.3']
"""

from fullpipe.validation.conformance.case import DraftTest, DraftVerdict, Result, Step, StuckError
from fullpipe.validation.conformance.suite import cases, judge

__all__ = ["DraftTest", "DraftVerdict", "Result", "Step", "StuckError", "cases", "judge"]
