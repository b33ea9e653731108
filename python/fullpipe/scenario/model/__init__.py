"""The models of a scenario: a frozen class for every part. The text below a field documents its key."""
