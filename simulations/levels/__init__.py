"""The table of levels, from one Raft replica group to whole nodes on sockets; each has a folder of its own."""
