"""Validation of models: engines against Linux, runs against runs, algorithms against the BBR draft."""
