"""The levels of simulation, from one Raft replica group to whole nodes on sockets, and the run of each."""
