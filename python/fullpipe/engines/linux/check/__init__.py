"""What the engine refuses, because a kernel, or the way it is used here, cannot do it exactly."""
