"""The state machine: one input in, the state changed, and effects out."""
