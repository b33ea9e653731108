"""The models of a scenario: a frozen one for every part, with its keys documented where they stand."""
