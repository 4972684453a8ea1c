"""Requests and responses, by family; one class for all versions of a message."""
