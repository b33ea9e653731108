"""The lock of Python's parser."""

from threading import Lock

PARSER = Lock()
"""Lock to hold while source is parsed, also by `inspect.getsource` of a class.

In CPython 3.11, threads that build syntax trees at the same time share a counter, and fail with a
SystemError: see github.com/python/cpython/issues/106905.
"""
