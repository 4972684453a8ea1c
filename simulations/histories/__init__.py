"""Histories of clients: operations, sequential models, and the check whether a history is linearizable."""
