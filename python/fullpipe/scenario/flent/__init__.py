"""Flent's tests as scenarios. Names of series and tests are Flent's interface; nothing else of it is here."""
