"""The models of a scenario: a frozen class for every part. The docstring below a field documents the field's
key in scenario files."""
