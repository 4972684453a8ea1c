"""Java's regular expressions, as far as configuration values and tools use them."""
