"""`kafka-topics`."""
