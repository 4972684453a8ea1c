"""Many partition records at once, by column."""
