"""`kafka-acls`."""
