"""From records to tables: the contents of each table, how it is derived, where it is stored."""
