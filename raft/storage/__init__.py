"""The replica on disk, in Kafka's layout: log, snapshots, quorum-state, the directory itself (see DESIGN.md)."""
