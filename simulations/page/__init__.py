"""A run as one HTML page that needs nothing else: lanes of nodes, their roles and logs, messages, cuts, what broke."""
