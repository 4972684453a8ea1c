"""`kraftctl`: what is ours alone, one module a verb."""
