"""Flent's tests as scenarios. Only the names of series and tests are taken from Flent."""
