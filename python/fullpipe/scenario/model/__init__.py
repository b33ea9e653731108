"""The models of a scenario: a frozen one for every part, with every key documented below it."""
