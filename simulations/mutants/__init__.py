"""Deliberate bugs: what a good simulation must catch. They are rows here, and never in what is shipped as code."""
