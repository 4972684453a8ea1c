"""What one replica holds: its role, what a leader and a follower keep, peers, votes, its view of the log."""
