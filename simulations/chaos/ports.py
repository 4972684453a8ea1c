"""Free ports on loopback, each reserved against other runs on the same machine."""

from __future__ import annotations

import atexit
import random
import socket
from collections import deque
from contextlib import ExitStack, suppress

from tools.kraftctl.run.local_quorum import HTTP_PORT_OFFSET, WATCH_PORT_OFFSET

HOST = "127.0.0.1"
# Below the system's ephemeral ports: while a node is down, no connection of another program gets its port.
PORTS = range(15_000, 32_000)
# `kraftctl up` has the pages and the watch services of its nodes at these distances from their ports.
OFFSETS_OF_A_ROW = (0, HTTP_PORT_OFFSET, WATCH_PORT_OFFSET)
RESERVED_MAX = 256

# A UDP socket of each port that this process gave away, the oldest first. UDP and TCP share no ports, so a node can
# listen on the TCP port, while `_reserve` fails for it here and in every other process until this one ends.
_reserved: deque[socket.socket] = deque()


def free_ports(count: int) -> list[int]:
    """Ports that nothing uses now, and that no other call gets, in this process and in others at the same time."""
    ports: list[int] = []
    for port in random.sample(PORTS, 1000):
        if len(ports) == count:
            break
        if _reserve([port]):
            ports.append(port)
    assert len(ports) == count, f"no {count} free ports"
    return ports


def free_ports_in_a_row(count: int) -> int:
    """The first of consecutive ports as of `free_ports`, whose ports at OFFSETS_OF_A_ROW are free too."""
    for first in random.sample(PORTS[:: count + 1], 1000):
        if _reserve([first + offset + place for offset in OFFSETS_OF_A_ROW for place in range(count)]):
            return first
    raise AssertionError(f"no {count} free ports in a row")


def _reserve(ports: list[int]) -> bool:
    """Reserve all of these ports, or none if one is in use or reserved."""
    with suppress(OSError), ExitStack() as listeners, ExitStack() as reservations:
        sockets = []
        for port in ports:
            listeners.enter_context(socket.socket()).bind((HOST, port))
            sockets.append(reservations.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
            sockets[-1].bind((HOST, port))
        reservations.pop_all()
        _reserved.extend(sockets)
        while len(_reserved) > RESERVED_MAX:
            _reserved.popleft().close()
        return True
    return False


@atexit.register
def _release() -> None:
    # Sockets that are still open at exit would be reported as ResourceWarnings.
    for reservation in _reserved:
        reservation.close()
