"""What is made from runs: metrics, statistics, files for other tools. Nothing here runs or draws."""
