"""Topics and partitions: partitions as columns, one row each, and changes of many rows at once."""
