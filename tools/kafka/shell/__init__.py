"""kafka-metadata-shell: the metadata of a file as a tree of names, and the commands that walk it."""
