"""The verbs that run nodes."""
