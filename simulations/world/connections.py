"""Connections between processes, as TCP and the kernels at both ends make them, and the requests and answers on them.

Within a connection messages arrive in order, once, or not at all: then the connection breaks, or hangs until one side
gives it up. Between connections there is no order: a request on an abandoned connection may arrive long after those on
the next one. A killed process closes its connections; a machine without power sends nothing to its peers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.inputs import Requested, Source
from records.codec import decode, encode
from records.wire import EncodeError
from simulations.world.channels import Channel
from simulations.world.links import Links, Pipe
from simulations.world.messages import ANSWERS, KINDS, Frame
from simulations.world.process import Connection
from simulations.world.releases import NEWEST, common_versions
from simulations.world.world import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.world.links import Latency
    from simulations.world.process import Node, Process
    from simulations.world.world import World

SYN_RETRY_US = SECOND  # then twice as long, each time


class Network:
    """All connections of a world.

    former: addresses that refuse connections, because their machines have moved. uses_codec: whether messages pass as
    bytes; else the objects themselves pass, which must not be changed.
    delivers_late_answers: whether a client receives answers to requests that it gave up. rules: called for each frame
    that leaves, as `rule(connection, frame, is_answer)`; True: the rule has taken the frame. seen: called for each
    frame that leaves; arrived: for each that a process receives.
    """

    def __init__(self, world: World, latency: Latency, rng: Callable[[int, int], Random]) -> None:
        self.world = world
        self.links = Links(world, latency, rng)
        self.hosts: dict[str, Node] = {}
        self.crossed: dict[tuple[int, str], Node] = {}
        self.former: set[str] = set()
        self.uses_codec = True
        self.delivers_late_answers = False
        self.rules: list[Callable[[Connection, Frame, bool], bool]] = []
        self.seen: Callable[[Connection, Frame, bool], None] = lambda _connection, _frame, _is_answer: None
        self.arrived: Callable[[Connection, Frame, bool], None] = lambda _connection, _frame, _is_answer: None
        self.messages = 0

    def attach(self, node: Node) -> None:
        """A machine is reached at its address."""
        self.hosts[node.endpoints()[0].host] = node

    def move(self, node: Node) -> None:
        """A machine gets another address; the former one is in `former`, and refuses connections."""
        self.former.add(node.host)
        names = sum(1 for other in self.hosts.values() if other is node)
        node.host = f"node-{node.id}-{names}"
        node.config.endpoints = node.endpoints()
        self.attach(node)

    # The client's side

    def channel(self, process: Any, peer: int) -> Any:
        """The channel of a process to one of its peers."""
        return Channel(process, peer)

    def connect(self, process: Process, channel: Channel) -> Connection:
        """Begin to connect; the network then calls the channel's `on_accepted`, `ready`, `on_refused` or `on_lost`."""
        target = self._resolve(process, channel.host)
        own, other = process.node.id, target.id
        connection = Connection(process, channel, Pipe(self.links.link(own, other)), Pipe(self.links.link(other, own)))
        self.links.carry(connection.to_server, 0, self._syn, connection, target, 0)
        return connection

    def send(self, connection: Connection, number: int, request: Any) -> bool:
        """Send a request; False if the common version cannot carry it."""
        cls = type(request)
        version = connection.versions[cls]
        payload: Any = request
        size = 200
        if self.uses_codec:
            try:
                payload = encode(request, version)
            except EncodeError:
                return False
            size = len(payload)
        name, gist, _ = KINDS[cls]
        frame = Frame(name, gist(request), number, version, payload, size)
        frame.sent_at = self.world.now
        connection.asked_class = cls
        self.messages += 1
        self.seen(connection, frame, False)
        if not (self.rules and self._is_ruled(connection, frame, is_answer=False)):
            self.links.carry(connection.to_server, size, self.request_arrives, connection, frame)
        return True

    def abandon(self, connection: Connection) -> None:
        """The client closes the connection: sent bytes still arrive, and then its end."""
        connection.is_wanted = False
        if connection.server is not None:
            self.links.carry(connection.to_server, 0, self.on_closed_at_server, connection)

    # The server's side

    def reply(self, connection: Connection, response: Any) -> None:
        """Answer the last request on a connection."""
        asked = connection.asked
        assert asked is not None, f"an answer where nothing is asked: {response}"
        connection.asked = None
        cls = type(response)
        payload: Any = response
        name, gist, _ = KINDS[cls]
        said = gist(response)
        size = 200
        if self.uses_codec:
            payload = encode(response, asked.version)
            size = len(payload)
        frame = Frame(name, said, asked.number, asked.version, payload, size)
        frame.sent_at = self.world.now
        frame.stamp, frame.stray = asked.stamp, asked.stray
        self.messages += 1
        self.seen(connection, frame, True)
        if not (self.rules and self._is_ruled(connection, frame, is_answer=True)):
            self.links.carry(connection.to_client, size, self.answer_arrives, connection, frame)

    # The ends of processes

    def close_all(self, process: Process, *, power_lost: bool) -> None:
        """A process has ended. Its kernel closes its connections, unless the machine lost power."""
        if power_lost:
            self.links.drop_unsent(process.node.id)
            return
        for connection in process.connections.values():
            self.links.carry(connection.to_client, 0, self.on_broken, connection)
        for channel in process.channels.values():
            if channel.connection is not None:
                self.abandon(channel.connection)

    def reset_unaware_peers(self, node: Node) -> None:
        """A machine is up again: peers that still send on former connections get a reset."""
        unaware_peers, node.unaware_peers = node.unaware_peers, []
        for connection in unaware_peers:
            delay = connection.to_client.link.resend_delay(self.world.now)
            self.links.carry_after(delay, connection.to_client, self.on_broken, connection)

    # What arrives. Rules of faults use these too.

    def request_arrives(self, connection: Connection, frame: Frame) -> None:
        server = connection.server
        assert server is not None, "a request on a connection that was not accepted"
        if server.is_dead or connection.id not in server.connections:
            self._refuse_unknown(server.node, connection)
            return
        self.arrived(connection, frame, False)
        request = decode(connection.asked_class, frame.version, frame.payload) if frame.is_bytes else frame.payload
        source = Source(connection.id, frame.number)
        requested = Requested(source, request, frame.version, "CONTROLLER")
        server.when_awake(server.handle_request, connection, frame, requested)

    def answer_arrives(self, connection: Connection, frame: Frame) -> None:
        client = connection.client
        if client.is_dead:
            if client.node.is_on:
                self.links.carry(connection.to_server, 0, self.on_closed_at_server, connection)
            return
        if not (connection.is_wanted or self.delivers_late_answers):
            return
        self.arrived(connection, frame, True)
        payload = frame.payload
        if frame.is_bytes:
            payload = decode(ANSWERS[connection.asked_class], frame.version, payload)
        client.when_awake(connection.channel.on_answered, connection, frame, payload)

    def on_broken(self, connection: Connection) -> None:
        """The client learns that the connection is lost."""
        if connection.is_wanted and not connection.client.is_dead:
            connection.is_wanted = False
            connection.client.when_awake(connection.channel.on_lost, connection)

    def on_closed_at_server(self, connection: Connection) -> None:
        server = connection.server
        if server is not None and not server.is_dead and connection.id in server.connections:
            server.when_awake(server.on_disconnected, connection)

    def reset(self, connection: Connection) -> None:
        """The network resets the connection: both ends learn it, and what was in flight is lost."""
        connection.to_server.is_lost = connection.to_client.is_lost = True
        links = self.links
        links.carry(Pipe(connection.to_client.link), 0, self.on_broken, connection)
        links.carry(Pipe(connection.to_server.link), 0, self.on_closed_at_server, connection)

    def open_connections(self) -> list[Connection]:
        """The connections that a server has accepted, in a fixed order."""
        connections = []
        for name in sorted(self.hosts):
            node = self.hosts[name]
            if node.process is not None and node.host == name:
                connections += list(node.process.connections.values())
        return connections

    # Connecting

    def _resolve(self, process: Process, host: str) -> Node:
        return self.crossed.get((process.node.id, host)) or self.hosts[host]

    def _syn(self, connection: Connection, target: Node, attempt: int) -> None:
        if not connection.is_wanted or connection.client.is_dead:
            return
        host = connection.channel.host
        if host in self.former or self._resolve(connection.client, host) is not target:
            # The address was reassigned while the packet was in flight; this machine does not know the connection.
            self.links.carry(connection.to_client, 0, self._on_refused, connection)
            return
        if not target.is_on:
            delay = SYN_RETRY_US << attempt
            self.links.carry_after(delay, connection.to_server, self._syn, connection, target, attempt + 1)
            return
        process = target.process
        if process is None or process.is_dead or not process.is_listening:
            self.links.carry(connection.to_client, 0, self._on_refused, connection)
            return
        connection.server = process
        connection.id = process.accept(connection)
        self.links.carry(connection.to_client, 0, self._on_accepted, connection)

    def _on_refused(self, connection: Connection) -> None:
        if connection.is_wanted and not connection.client.is_dead:
            connection.is_wanted = False
            connection.client.when_awake(connection.channel.on_refused, connection)

    def _on_accepted(self, connection: Connection) -> None:
        """The client asks for the server's versions before anything else."""
        if connection.is_wanted and not connection.client.is_dead:
            connection.client.when_awake(self._ask_versions, connection)

    def _ask_versions(self, connection: Connection) -> None:
        if connection.is_wanted:
            connection.channel.on_accepted(connection)
            self.links.carry(connection.to_server, 0, self._on_versions_asked, connection)

    def _on_versions_asked(self, connection: Connection) -> None:
        server = connection.server
        assert server is not None, "versions are asked of a server"
        if server.is_dead or connection.id not in server.connections:
            self._refuse_unknown(server.node, connection)
        else:
            server.when_awake(self._answer_versions, connection)

    def _answer_versions(self, connection: Connection) -> None:
        self.links.carry(connection.to_client, 0, self._ready, connection)

    def _ready(self, connection: Connection) -> None:
        if connection.is_wanted and not connection.client.is_dead:
            assert connection.server is not None, "the server has answered"
            connection.versions = common_versions(connection.client.node.release, connection.server.node.release)
            connection.client.when_awake(connection.channel.ready, connection)

    def _refuse_unknown(self, node: Node, connection: Connection) -> None:
        """A packet arrives for a connection that this machine no longer knows."""
        if node.is_on:
            self.links.carry(connection.to_client, 0, self.on_broken, connection)
        elif connection not in node.unaware_peers:
            node.unaware_peers.append(connection)

    def _is_ruled(self, connection: Connection, frame: Frame, *, is_answer: bool) -> bool:
        return any(rule(connection, frame, is_answer) for rule in self.rules)


def speaks_newest(nodes: list[Node]) -> bool:
    """Whether all nodes run the newest release: only then may messages pass as objects."""
    return all(node.release == NEWEST for node in nodes)
