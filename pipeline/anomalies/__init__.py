"""Patterns in the history of a cluster that call for a look: flapping brokers, ISR storms, ghost voters.

The definition of each stands in its module, and in DESIGN.md. They take rows, and know nothing of Spark; `search`
asks the tables for the rows.
"""
