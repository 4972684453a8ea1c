"""From records to tables: what each table says, how it is derived, where it is kept."""
