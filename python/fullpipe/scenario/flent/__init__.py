"""Tests of Flent as scenarios. Names of tests and of their series are those of Flent; no code is from
Flent."""
