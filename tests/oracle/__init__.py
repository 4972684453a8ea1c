"""Stock Kafka's own classes as an oracle: the same commands go to stock and to ours, and everything is compared."""
