"""What must always hold, a module for each subject; ids S01 to S22 are those of the literature's list in DESIGN.md."""
