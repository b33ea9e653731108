"""Makes the tables of a run from the guest's measurements."""
