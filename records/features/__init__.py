"""Feature levels (KIP-584, KIP-1022), and the record versions that each metadata.version allows."""
