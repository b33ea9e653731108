"""Analysis of runs: metrics, statistics, theory, files for other tools. This package runs no simulation and
draws no figure."""
