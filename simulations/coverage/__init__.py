"""Counts what happens in worlds: outcomes of messages by role, sequences of roles and of actions, named moments."""
