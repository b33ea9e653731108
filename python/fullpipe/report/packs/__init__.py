"""Packs: a study in one file that others run again, with scenarios, algorithms, recordings and runs."""
