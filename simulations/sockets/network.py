"""The network of the node level: connections that carry bytes, and all faults of the other levels on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.nodes.wire import ClusterNetwork
from simulations.sockets.channels import SocketChannels
from simulations.sockets.forwarding import ForwardedChannels, is_forwarding
from simulations.sockets.frames import Tap
from simulations.sockets.tcp import End, TcpConnection
from simulations.world.links import Pipe

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from raft.network.security import ClientSecurity
    from simulations.sockets.frames import Seen
    from simulations.sockets.interfaces import WireChecks
    from simulations.sockets.tcp import Opener
    from simulations.world.links import Latency
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process
    from simulations.world.world import World

# How writes are split: not at all, at the size of an Ethernet frame, sometimes anywhere, into a few bytes each.
SEGMENTS = ("whole", "mtu", "torn", "crumbs")
MTU = 1448
TORN_SHARE = 0.1
CRUMB_BYTES = 40
PORT = 9093


class SocketNetwork(ClusterNetwork):
    """All connections of a world, with bytes on them.

    window: bytes of one direction that may be in flight. segments: one of SEGMENTS. forwards: whether admin clients
    send requests through a broker. wire_rules: check all frames.
    """

    wire_rules: WireChecks

    def __init__(self, world: World, latency: Latency, rng: Callable[[int, int], Random]) -> None:
        super().__init__(world, latency, rng)
        self.window = 256 << 10
        self.segments = "whole"
        self.forwards = False
        self._torn = rng(0, 0)
        self._ends: dict[Any, dict[End, None]] = {}  # by process; asked for by key alone

    # Overridden by the secured level

    def client_security(self, process: Any) -> ClientSecurity | None:  # noqa: ARG002 - the secured level uses it
        """The security of the channels of a process."""
        return None

    def make_tap(self, whole: Callable[[bytes], Seen | None], *, is_answer: bool) -> Tap:
        """The tap of one direction of a connection."""
        return Tap(whole, is_answer=is_answer)

    # Called by the ends of connections

    def segment(self, size: int) -> int:
        """How many of this many bytes leave together."""
        if self.segments == "mtu":
            return min(size, MTU)
        if self.segments == "crumbs":
            return min(size, 1 + int(self._torn.random() * CRUMB_BYTES))
        if self.segments == "torn" and self._torn.random() < TORN_SHARE:
            return 1 + int(self._torn.random() * size)
        return size

    def is_ruled(self, connection: Connection, frame: Frame, is_answer: bool) -> bool:
        """Whether a fault has handled a frame that leaves."""
        return self._is_ruled(connection, frame, is_answer=is_answer)

    def forget(self, end: End) -> None:
        """A process has closed an end."""
        self._ends.get(end.process, {}).pop(end, None)

    def answer_for_nobody(self, end: End) -> None:
        """Bytes arrive at an end that no process has open any more."""
        node = end.process.node
        if node.is_on:
            self.links.carry(end.pipe, 0, end.other.break_off)
        elif end.connection not in node.unaware_peers:
            node.unaware_peers.append(end.connection)

    # Connecting

    def open(self, process: Process, opening: Opener) -> TcpConnection:
        """Begin to connect; the network then calls the opening's `on_accepted` or `on_refused`."""
        target = self._resolve(process, opening.host)
        own, other = process.node.id, target.id
        to_server, to_client = Pipe(self.links.link(own, other)), Pipe(self.links.link(other, own))
        connection = TcpConnection(process, opening, to_server, to_client)
        wire_rules = self.wire_rules
        end = connection.client_end = End(self, connection, process, to_server)
        end.tap = self.make_tap(lambda data: wire_rules.request_leaves(connection, data), is_answer=False)
        self._ends.setdefault(process, {})[end] = None
        self.links.carry(to_server, 0, self._syn, connection, target, 0)
        return connection

    def abandon(self, connection: TcpConnection) -> None:  # type: ignore[override]
        """The client no longer waits for the connection."""
        connection.is_wanted = False
        self.forget(connection.client_end)
        if connection.server is not None:
            connection.client_end.reset()

    def accept(self, connection: TcpConnection) -> End:
        """The server's end of a connection that its kernel has accepted."""
        server = connection.server
        assert server is not None, "somebody has taken it"
        wire_rules = self.wire_rules
        end = connection.server_end = End(self, connection, server, connection.to_client)
        end.other, connection.client_end.other = connection.client_end, end
        is_ours = self.hosts.get(connection.opening.host) is server.node or server.node in self.hosts.values()
        end.tap = self.make_tap(
            lambda data: wire_rules.answer_leaves(connection, data) if is_ours else None, is_answer=True
        )
        self._ends.setdefault(server, {})[end] = None
        return end

    def _on_accepted(self, connection: TcpConnection) -> None:  # type: ignore[override]
        client = connection.client
        if connection.is_wanted and not client.is_dead:
            client.when_awake(connection.channel.on_accepted, connection)
        elif client.node.is_on:
            connection.client_end.reset()

    # Ends of processes, and faults

    def close_all(self, process: Process, *, power_lost: bool) -> None:
        for end in self._ends.pop(process, {}):
            if power_lost:
                end.is_gone = True
            elif hasattr(end, "other"):
                end.die()
        if power_lost:
            self.links.drop_unsent(process.node.id)

    def on_broken(self, connection: TcpConnection) -> None:  # type: ignore[override]
        connection.client_end.break_off()

    def on_closed_at_server(self, connection: TcpConnection) -> None:  # type: ignore[override]
        connection.server_end.break_off()

    def request_arrives(self, connection: TcpConnection, frame: Any) -> None:  # type: ignore[override]
        """A message that a fault has held arrives."""
        connection.server_end.arrive(frame.rest)

    def answer_arrives(self, connection: TcpConnection, frame: Any) -> None:  # type: ignore[override]
        connection.client_end.arrive(frame.rest)

    def channel(self, process: Any, peer: int) -> Any:  # noqa: ARG002 - one object for all peers
        """The channel from a broker or an admin client to its peers."""
        channels = process.channels.get(0)
        if channels is None:
            kind = ForwardedChannels if self.forwards and is_forwarding(process.id) else SocketChannels
            channels = process.channels[0] = kind.of_client(process, self.client_security(process))
        return channels
