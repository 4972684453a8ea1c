"""Beside the simulation: the same faults and the same judges, with real processes, sockets and disks."""
