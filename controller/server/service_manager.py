"""Messages to the service manager that started this process: systemd with `Type=notify`, or a container engine.

The protocol is that of sd_notify(3): datagrams of lines `KEY=VALUE` to the unix socket that NOTIFY_SOCKET names.
"""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from controller.node.node import Node
    from controller.server.http.watchdog import Watchdog

# How often the status is looked at, unless the manager expects messages more often.
INTERVAL_S = 1.0
# The message of a failed node is cut to this length: a datagram has a limit, and the log has the whole text.
TEXT_MAX = 500


class ServiceManager:
    """Reports that the node serves, its role and epoch, that it makes progress, and that it stops.

    A message that cannot be sent is dropped: a manager that does not read must not stop a node.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        """environment: of the process. Without NOTIFY_SOCKET nothing is sent."""
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._watchdog_s = _watchdog_s(environment)
        self._socket: socket.socket | None = None
        self._watchdog: Watchdog | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._status = ""

    def serving(self, node: Node) -> None:
        """The listeners accept connections. From now on the status is kept up to date."""
        if not self._address:
            return
        # Here, so that a node without a manager and an HTTP port does not load it.
        from controller.server.http.watchdog import Watchdog

        self._watchdog = Watchdog(node.loop)
        self._watchdog.watch(node.storage)
        self._send("READY=1", self._new_status(node))
        self._look(node)

    def stopping(self) -> None:
        """The node has begun to stop."""
        self._send("STOPPING=1", "STATUS=stopping")

    def close(self, failure: BaseException | None) -> None:
        """The process ends. failure: why the node could not go on; None after a signal."""
        if self._timer is not None:
            self._timer.cancel()
        if self._watchdog is not None:
            self._watchdog.close()
        if failure is not None:
            self._send("STOPPING=1", f"STATUS=failed: {_one_line(str(failure))}")
        if self._socket is not None:
            self._socket.close()

    def _look(self, node: Node) -> None:
        assert self._watchdog is not None
        lines = []
        # As /livez: without it, the manager restarts a node whose loop or disk hangs, and no other.
        if self._watchdog_s is not None and all(check.passed for check in self._watchdog.live()):
            lines.append("WATCHDOG=1")
        status = self._status
        if not node.is_ending and (new := self._new_status(node)) != status:
            lines.append(new)
        self._send(*lines)
        interval_s = INTERVAL_S if self._watchdog_s is None else min(INTERVAL_S, self._watchdog_s / 3)
        self._timer = node.loop.call_later(interval_s, self._look, node)

    def _new_status(self, node: Node) -> str:
        from controller.server.http.probes import known_leader, role_name

        replica = node.replica
        leader_id = known_leader(replica)
        leader = "no leader is known" if leader_id is None else f"leader {leader_id}"
        self._status = f"STATUS={role_name(replica)} in epoch {replica.role.epoch}, {leader}"
        return self._status

    def _send(self, *lines: str) -> None:
        if not self._address or not lines:
            return
        with contextlib.suppress(OSError):
            if self._socket is None:
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._socket.setblocking(False)
            self._socket.sendto("\n".join(lines).encode(errors="replace"), self._address)


def _watchdog_s(environment: Mapping[str, str]) -> float | None:
    """How long the manager waits for a sign of life, in s; None if it does not, or waits for another process."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    text = environment.get("WATCHDOG_USEC", "")
    return int(text) / 1e6 if text.isascii() and text.isdigit() and int(text) > 0 else None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:TEXT_MAX]
