"""Patterns in the history of a cluster that need attention: flapping brokers, ISR storms, ghost voters.

The definition of each is in its module, and in DESIGN.md. They take rows, and do not know Spark; `search` queries the
tables for the rows.
"""
