"""The members level: the raft level with voters that change (KIP-853), by an administrator and by themselves."""
