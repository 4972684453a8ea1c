"""The log: its format, its events, and the problems that are named again."""
