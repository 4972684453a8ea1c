"""Worlds made from a seed, in which the real code lives among faults, and properties that are checked at each event."""
