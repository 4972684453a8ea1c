"""Worlds made from a seed: the real code runs in them under faults, and properties are checked at each event."""
