"""Generators of the Raft level's sequences: requests and responses depend on our replica's state."""
