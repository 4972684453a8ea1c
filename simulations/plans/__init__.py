"""Plans: the complete input of a run, as plain data; how they are drawn from a seed, and simplified."""
