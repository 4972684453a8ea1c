"""The oracle for one Raft replica: stock's `KafkaRaftClient` and `raft.step` take the same commands."""
