"""Types of config values: how text becomes a value, and what makes it invalid."""
