"""One simulated world: virtual time, machines with disks and clocks, a network, processes and clients."""
