"""A directory read while no node runs on it: its batches and records, what they add up to, how it is formatted."""
