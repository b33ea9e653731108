"""Packs: a study in one file for reruns, with scenarios, algorithms, recordings and runs."""
