"""One node: the two state machines driven on an event loop, a disk and a network."""
