"""The tables of configuration keys of Kafka 4.4.0, one row a key, and of our own."""
