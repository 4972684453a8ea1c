"""The metadata at an offset or a time, from a directory, a file or a quorum; and what changed between two."""
