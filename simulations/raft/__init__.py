"""The raft level: the core and its storage, with registers as state machine, and the run that other levels extend."""
