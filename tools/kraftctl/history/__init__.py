"""The verbs that show what the metadata was, and what changed it."""
