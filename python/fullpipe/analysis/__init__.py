"""Analysis of runs: metrics, statistics, theory, files for other tools. Nothing here runs or draws."""
