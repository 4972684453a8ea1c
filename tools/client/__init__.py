"""The client of a quorum: connections, the search for its leader, and an observer of its log."""
