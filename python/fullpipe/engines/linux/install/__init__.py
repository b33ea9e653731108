"""Gets a kernel that runs as one process, and the program that runs in it."""
