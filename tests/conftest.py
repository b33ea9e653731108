"""Property tests draw the same cases every time, and have as long as they need on a busy machine."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
