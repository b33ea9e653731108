"""Whether a model is right: engines against Linux, runs against runs, algorithms against the BBR draft."""
