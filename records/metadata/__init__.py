"""Records of the metadata log, by family."""
