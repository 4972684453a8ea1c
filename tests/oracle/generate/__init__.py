"""Generators of sequences: commands that depend on our controller's state, with some invalid values."""
