"""The faults, a module for each subject; `table.KINDS` has a row for each kind."""
