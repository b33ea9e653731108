"""The lock of Python's parser."""

from threading import Lock

PARSER = Lock()
"""Held while source is parsed, also by `inspect.getsource` of a class.

Threads that build trees at once share a counter in CPython 3.11, which then fails with a SystemError: see
github.com/python/cpython/issues/106905.
"""
