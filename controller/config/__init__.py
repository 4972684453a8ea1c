"""Configuration: the keys of a node, of topics, groups and client metrics, and how their text becomes values."""
