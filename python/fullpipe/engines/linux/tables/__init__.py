"""From what the guest has measured to the tables of a run."""
