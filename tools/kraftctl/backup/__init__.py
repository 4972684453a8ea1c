"""`kraftctl backup`."""
