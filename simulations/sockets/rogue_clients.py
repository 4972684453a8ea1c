"""Rogue clients: they send garbage, or too much, or do not read; and rogue servers at the address of a node. They never
send anything that a node could have sent: Raft does not tolerate Byzantine nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS
from records.codec import encode
from records.errors import Error
from records.headers import RequestHeader, request_header_version
from records.messages.cluster import DescribeClusterRequest
from records.messages.elections import VoteRequest, VoteResponse
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.schema import schema_of
from simulations.sockets.frames import API_VERSIONS
from simulations.sockets.wire_rules import agree_versions
from simulations.world.clocks import NodeClock
from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.sockets.network import SocketNetwork
    from simulations.sockets.tcp import TcpConnection
    from simulations.world.process import Connection

    Manner = Callable[["Visit"], None]
    Ranges = dict[int, tuple[int, int]]

FIRST_ID = 901


class RogueClient:
    """A machine, and the process on it, for the network."""

    is_on = True
    is_paused = False
    is_listening = True
    life = 1
    clock = NodeClock()

    def __init__(self, network: SocketNetwork, rogue_id: int, rng: Random) -> None:
        self.network = network
        self.world = network.world
        self.id = rogue_id
        self.rng = rng
        self.node = self
        self.process = self
        self.is_dead = False
        self.connections: dict[int, Connection] = {}
        self.unaware_peers: list[Connection] = []

    def when_awake(self, act: Callable[..., None], *args: Any) -> None:
        if not self.is_dead:
            act(*args)

    def leave(self) -> None:
        """The machine is removed, with its connections."""
        self.network.close_all(self, power_lost=False)  # type: ignore[arg-type]
        self.is_dead = True


class Visit:
    """A rogue client's connection to a node. host: of the node. manner: its behaviour when the connection is made.

    channels, peer: as of `loop.Opening`; it has none.
    """

    channels = None
    peer = 0

    def __init__(self, rogue: RogueClient, host: str, manner: Manner, size: int) -> None:
        self.rogue = rogue
        self.rng = rogue.rng
        self.host = host
        self.size = size
        self.expects: dict[int, int] = {}  # by the place of a request: the error that is the only answer to it
        self._manner = manner
        self.connection = rogue.network.open(rogue, self)  # type: ignore[arg-type]

    def on_accepted(self, connection: TcpConnection) -> None:
        connection.client_end.owner = self
        self._manner(self)

    def on_refused(self, connection: TcpConnection) -> None:
        """No process listens there."""

    def write(self, data: bytes) -> None:
        self.connection.client_end.send(data)

    def later(self, delay_ms: int, act: Callable[..., None], *args: Any) -> None:
        self.rogue.world.after(delay_ms * MS, self.rogue.when_awake, act, *args)

    # Called by the end of the connection

    def on_received(self, data: bytes) -> None:
        """Ignore the bytes."""

    def on_ended(self, error: OSError | None) -> None:
        if error is None:
            self.connection.client_end.finish()

    def on_drained(self) -> None:
        """It does not mind."""


def request_bytes(request: Any, version: int, number: int) -> bytes:
    """The bytes of a request on the wire, without the length."""
    cls = type(request)
    api_key = schema_of(cls).api_key
    assert api_key is not None, "it is a request"
    header = RequestHeader(
        request_api_key=api_key, request_api_version=version, correlation_id=number, client_id="stranger"
    )
    return encode(header, request_header_version(cls, version)) + encode(request, version)


def frame(data: bytes) -> bytes:
    """The data as a frame, with its length before it."""
    return len(data).to_bytes(4, "big") + data


# Behaviours of clients


def garbage(visit: Visit) -> None:
    """Random bytes."""
    visit.write(visit.rng.randbytes(visit.size))


def endless(visit: Visit) -> None:
    """A negative length, or one above the limit."""
    visit.write((-1 if visit.size & 1 else 1 << 30).to_bytes(4, "big", signed=True) + visit.rng.randbytes(20))


def half(visit: Visit) -> None:
    """The first bytes of a frame, and then nothing."""
    visit.write((visit.size + 10).to_bytes(4, "big") + visit.rng.randbytes(visit.size))


def send_half_and_break(visit: Visit) -> None:
    """Send half a frame, and break the connection."""
    half(visit)
    visit.later(between(visit.rng, 1, 20), visit.connection.client_end.reset)


def cut_short(visit: Visit) -> None:
    """A valid request, and another whose message is truncated, in a complete frame."""
    visit.write(frame(request_bytes(ApiVersionsRequest(), 0, 1)))
    request = VoteRequest(cluster_id="somewhere", topics=())
    visit.write(frame(request_bytes(request, 1, 2)[:-1]))
    visit.write(frame(request_bytes(ApiVersionsRequest(), 0, 3)))


def too_long(visit: Visit) -> None:
    """Bytes after a message."""
    visit.write(frame(request_bytes(ApiVersionsRequest(), 0, 7) + b"more"))


def ask_unserved(visit: Visit) -> None:
    """An API that is not served, or an unsupported version of one that is."""
    data = bytearray(request_bytes(DescribeClusterRequest(include_cluster_authorized_operations=False), 1, 4))
    data[0:4] = (b"\x00\x00\x00\x03", b"\x00\x34\x7f\x00", b"\x7f\x7f\x00\x01")[visit.size % 3]
    visit.write(frame(bytes(data)))


def _questions(visit: Visit, count: int) -> bytes:
    """Valid requests, some answered at once and some from committed state."""
    known = APIS[API_VERSIONS].versions[1]
    asked = []
    for number in range(count):
        if visit.rng.random() < 0.2:
            question: Any = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2)
            asked.append(frame(request_bytes(question, 1, number * 7 - 3)))
        else:
            version = between(visit.rng, 0, known + 1)
            question = ApiVersionsRequest(client_software_name="stranger", client_software_version="0")
            data = request_bytes(question, min(version, known), number * 7 - 3)
            asked.append(frame(data[:2] + version.to_bytes(2, "big") + data[4:]))
    return b"".join(asked)


def flood(visit: Visit) -> None:
    """Very many requests at once."""
    visit.write(_questions(visit, visit.size))


def crumbs(visit: Visit) -> None:
    """A few requests, a few bytes at a time."""
    data = _questions(visit, 3)
    for place in range(0, len(data), 9):
        visit.later(place // 9 * 2, visit.write, data[place : place + 9])


def slow(visit: Visit) -> None:
    """Very many requests, and answers are read a few bytes at a time."""
    end = visit.connection.client_end
    visit.write(_questions(visit, visit.size))
    for time in range(40):
        visit.later(20 * time, end.pause_reading)
        visit.later(20 * time + 19, end.resume_reading)


def deaf(visit: Visit) -> None:
    """Very many requests, again and again, and no answer is read."""
    visit.connection.client_end.pause_reading()
    for time in range(5):
        visit.later(50 * time, visit.write, _questions(visit, visit.size))


def silent(_visit: Visit) -> None:
    """Nothing at all."""


MANNERS: dict[str, Manner] = {
    "garbage": garbage, "endless": endless, "half": half, "half_and_gone": send_half_and_break, "cut_short": cut_short,
    "too_long": too_long, "unserved": ask_unserved, "flood": flood, "crumbs": crumbs, "slow": slow, "deaf": deaf,
    "silent": silent,
}  # fmt: skip


# Rogue servers


class RogueServer(RogueClient):
    """Has the address of a node. how: one of IMPOSTURES."""

    def __init__(self, network: SocketNetwork, rogue_id: int, rng: Random, how: str) -> None:
        super().__init__(network, rogue_id, rng)
        self._how = how
        self._served: list[TcpConnection] = []

    def accept(self, connection: TcpConnection) -> int:
        """Its kernel has accepted a connection."""
        self._served.append(connection)
        end = self.network.accept(connection)
        end.owner = Host(self, connection, self._how)
        return len(self._served)

    def leave(self) -> None:
        for connection in self._served:
            self.network.reset(connection)
        super().leave()


class Host:
    """A connection that a rogue server has accepted."""

    def __init__(self, impostor: RogueServer, connection: TcpConnection, how: str) -> None:
        self._impostor = impostor
        self._connection = connection
        self._how = how
        if how == "closes":
            impostor.world.after(0, connection.server_end.reset)

    def on_received(self, _data: bytes) -> None:
        connection = self._connection
        for place in list(connection.requests):
            asked = connection.requests.pop(place)
            IMPOSTURES[self._how](self, asked)

    def on_ended(self, error: OSError | None) -> None:
        if error is None:
            self._connection.server_end.finish()

    def on_drained(self) -> None:
        """It does not mind."""

    @property
    def rng(self) -> Random:
        return self._impostor.rng

    def write(self, data: bytes) -> None:
        self._connection.server_end.send(data)

    def close(self) -> None:
        self._connection.server_end.finish()

    def answer_versions(self, asked: Any, ranges: Ranges, error: int = 0, more: int = 0) -> None:
        """An answer to ApiVersions. more: added to its correlation id."""
        entry = ApiVersionsResponse.ApiVersion
        keys = tuple(entry(api_key=key, min_version=low, max_version=high) for key, (low, high) in ranges.items())
        response = ApiVersionsResponse(error_code=error, api_keys=keys)
        if not (error or more):
            self._connection.versions = agree_versions(response)
        number = (asked.correlation_id + more).to_bytes(4, "big", signed=True)
        self.write(frame(number + encode(response, 0 if error else asked.version)))

    def answer_as_it_should(self, asked: Any, ranges: Ranges) -> None:
        """The answer of a server with these versions."""
        known = APIS[API_VERSIONS].versions
        if asked.version > known[1]:
            self.answer_versions(asked, {API_VERSIONS: known}, error=Error.UNSUPPORTED_VERSION)
        else:
            self.answer_versions(asked, ranges)


def _mute(_host: Host, _asked: Any) -> None:
    """It reads everything, and answers nothing."""


def _hang_up(host: Host, _asked: Any) -> None:
    host.close()


def _babble(host: Host, _asked: Any) -> None:
    host.write(host.rng.randbytes(between(host.rng, 1, 200)))


def _break_in_half(host: Host, asked: Any) -> None:
    """It sends half of an answer."""
    host.write((100).to_bytes(4, "big") + asked.data[4:8] + b"\0\0")
    host.close()


def _mistake_number(host: Host, asked: Any) -> None:
    host.answer_versions(asked, {key: api.versions for key, api in APIS.items()}, more=1)


def _refuse_versions(host: Host, asked: Any) -> None:
    """It supports fewer and fewer versions of ApiVersions, and none in the end."""
    host.answer_versions(asked, {API_VERSIONS: (0, max(asked.version - 1, 0))}, error=Error.UNSUPPORTED_VERSION)


def _be_broken(host: Host, asked: Any) -> None:
    host.answer_versions(asked, {}, error=Error.INVALID_REQUEST)


def _be_old(host: Host, asked: Any) -> None:
    """It is of a release without a version in common with our controllers."""
    host.answer_as_it_should(asked, {API_VERSIONS: (0, 2), 1: (0, 11), 52: (0, 0)})


def _grant_others(host: Host, asked: Any) -> None:
    """It answers ApiVersions correctly, and grants votes that nobody requested: with unknown correlation ids."""
    if asked.name == "ApiVersions":
        host.answer_as_it_should(asked, {key: api.versions for key, api in APIS.items()})
        return
    response: Any = ApiVersionsResponse(error_code=0, api_keys=())
    if asked.name == "Vote":
        partition = asked.message.topics[0].partitions[0]
        partition = VoteResponse.TopicData.PartitionData(
            partition_index=0, error_code=0, leader_id=-1, leader_epoch=partition.replica_epoch, vote_granted=True
        )
        topic = VoteResponse.TopicData(topic_name=asked.message.topics[0].topic_name, partitions=(partition,))
        response = VoteResponse(error_code=0, topics=(topic,))
    body = b"\0" + encode(response, asked.version if asked.name == "Vote" else 0)
    host.write(frame((asked.correlation_id - 1).to_bytes(4, "big", signed=True) + body))


IMPOSTURES: dict[str, Callable[[Host, Any], None]] = {
    "mute": _mute, "closes": _hang_up, "hangs_up": _hang_up, "babbles": _babble, "half": _break_in_half,
    "mistakes": _mistake_number,
    "refuses": _refuse_versions, "broken": _be_broken, "old": _be_old,
    "grants": _grant_others,
}  # fmt: skip
