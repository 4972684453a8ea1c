"""The autopilot: which voter the active controller adds or removes next by itself, and why."""
