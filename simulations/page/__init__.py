"""A run as one self-contained HTML page: lanes of nodes, their roles and logs, messages, cuts, and the violation."""
