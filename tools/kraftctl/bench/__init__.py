"""`kraftctl bench`."""
