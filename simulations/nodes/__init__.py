"""A controller as a process of a simulated machine: its driver, event loop and channels, and a client of it."""
