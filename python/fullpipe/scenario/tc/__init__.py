"""Linux's queue disciplines as `tc` writes them, read as queues of a scenario."""
