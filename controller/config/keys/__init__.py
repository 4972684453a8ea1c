"""The tables of configuration keys of Kafka 4.3.1, one row a key, and of our own."""
