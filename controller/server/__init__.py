"""The edges of a node around its two cores: what it writes to its log, and the doors that are not the quorum's."""
