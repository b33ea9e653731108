"""What a scenario holds: one frozen model for every part, with its keys documented where they stand."""
