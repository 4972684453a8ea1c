"""Plans: everything that one run is given, as plain data; how plans are drawn from a seed, and made simpler."""
