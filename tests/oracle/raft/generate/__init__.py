"""What makes the sequences of the Raft level: requests and responses are chosen by the state of ours."""
