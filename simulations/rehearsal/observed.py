"""What is observed of a rehearsal: roles, epochs, commits that clients were told of, and the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.world.trace import CUT, DEED, FAULT, LIFE, MESSAGE, NOTE, STEP

if TYPE_CHECKING:
    from simulations.world.trace import Trace
    from simulations.world.world import World

DOWN = "down"


class Observed:
    """Called by processes and the network, as `levels.raft_watch.Watch` is; checks nothing.

    roles: (time in us, node, role, epoch) of each change. commits: (time in us, number of the write, latency in us) of
    each that its client was told of. failures: (node, reason) of processes that stopped by themselves.
    """

    on_detail = None

    def __init__(self, world: World, trace: Trace | None) -> None:
        self.world = world
        self.trace = trace
        self.roles: list[tuple[int, int, str, int]] = []
        self.commits: list[tuple[int, int, int]] = []
        self.failures: list[tuple[int, str]] = []
        self._last: dict[int, tuple[str, int]] = {}

    def _add(self, *entry: Any) -> None:
        if self.trace is not None:
            self.trace.add((self.world.now, *entry))

    def _becomes(self, node_id: int, role: str, epoch: int) -> None:
        if self._last.get(node_id) != (role, epoch):
            self._last[node_id] = (role, epoch)
            self.roles.append((self.world.now, node_id, role, epoch))

    # Processes

    def on_started(self, process: Any) -> None:
        self._add(LIFE, process.node.id, "starts", process.life)

    def on_recovered(self, process: Any, recovered: Any) -> None:
        self._add(LIFE, process.node.id, "recovered", recovered.log_start, recovered.log_end)

    def on_ended(self, process: Any, how: str) -> None:
        self._add(LIFE, process.node.id, how, process.life)
        self._becomes(process.node.id, DOWN, -1)

    def on_start_refused(self, process: Any, error: Exception) -> None:
        self._add(LIFE, process.node.id, "refuses to start", str(error))
        self.failures.append((process.node.id, str(error)))

    def on_failed(self, process: Any, error: Exception) -> None:
        self._add(LIFE, process.node.id, "fails", str(error))
        self.failures.append((process.node.id, str(error)))

    def on_stepped(self, process: Any, name: str, _event: Any, effects: list[Any]) -> None:
        replica = process.replica
        role = replica.role
        self._becomes(process.node.id, type(role).__name__, role.epoch)
        if self.trace is not None:
            log = replica.log
            self.trace.add((
                self.world.now, STEP, process.node.id, name, type(role).__name__, role.epoch, log.end,
                replica.high_watermark, len(effects), log.durable_end,
            ))  # fmt: skip

    def on_noted(self, process: Any, name: str, fields: dict[str, Any]) -> None:
        if self.trace is not None:
            self._add(NOTE, process.node.id, name, str(fields))

    def on_controller_stepped(self, process: Any, event: Any, effects: list[Any]) -> None:
        """Controllers are not checked here."""

    on_asked = took_request = on_answered = performs = replies = lambda *_: None  # what only checks need

    # The network

    def leaves(self, connection: Any, frame: Any, is_answer: bool) -> None:
        if self.trace is not None:
            client, server = connection.client.node.id, connection.server
            other = 0 if server is None else server.node.id
            sender, target = (other, client) if is_answer else (client, other)
            self._add(MESSAGE, sender, target, frame.name, *frame.gist)

    def on_link_changed(self, source: int, target: int, is_cut: bool) -> None:
        self._add(CUT, source, target, is_cut)

    # The rehearsal itself

    def on_struck(self, node_id: int, what: str) -> None:
        """Something fails, or is repaired."""
        self._add(FAULT, node_id, 0, what)

    def on_committed(self, number: int, took_us: int) -> None:
        """A client was told that its write is committed."""
        self._add(DEED, 0, "acknowledges", number)
        self.commits.append((self.world.now, number, took_us))
