"""KRaft as states and actions: every small world searched over the real `raft.step`, and every run held against it."""
