"""`kraftctl doctor`."""
