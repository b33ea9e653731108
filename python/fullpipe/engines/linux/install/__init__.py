"""Installation of a kernel that runs as one process, and of the program that runs in this kernel."""
