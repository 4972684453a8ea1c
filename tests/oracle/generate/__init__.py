"""Generators of sequences: commands chosen by the state that ours is in, bad values among them."""
