"""`kraftctl`: the commands that only kraft-quorum has, one module for each verb."""
