"""One replica of the metadata quorum (KIP-595, KIP-630, KIP-853, KIP-996): a core without IO, and edges beside it."""
