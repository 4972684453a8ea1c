"""Beside the simulation: the same faults and the same checks, with real processes, sockets and disks."""
