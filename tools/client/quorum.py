"""The search for the leader of a quorum, and the quorum as its leader describes it (KIP-595, KIP-919)."""

from __future__ import annotations

import time
from typing import NamedTuple

from records.errors import ApiError, Error, error_name
from records.messages.cluster import DescribeClusterRequest
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import uuid_text
from records.wire import DecodeError, EncodeError
from tools.client.connection import Connection, NotAuthenticated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from raft.network.security import ClientSecurity

Address = tuple[str, int]

# What a request raises that a node does not answer, or not in a form that can be read.
FAILURES = (OSError, ApiError, DecodeError, EncodeError)
DENIALS = (Error.CLUSTER_AUTHORIZATION_FAILED, Error.TOPIC_AUTHORIZATION_FAILED)
CONTROLLERS = 2
ASK_S = 3.0
# A quorum has a handful of controllers; a node that names more must not make the list grow without bound.
ADDRESSES_MAX = 32
NO_DIRECTORY = bytes(16)


class Member(NamedTuple):
    """A replica as its leader sees it. end_offset and times: -1 where unknown; the times are of the leader's clock."""

    id: int
    directory_id: str
    end_offset: int
    last_fetch_ms: int
    caught_up_ms: int


class View(NamedTuple):
    """A quorum as its leader sees it. voters, observers: by id; address: where the leader was found.

    all_observers: also those that share an id, as a replaced disk and its successor do; `observers` has the one that
    fetched last. listeners: of each voter, by name; empty before DescribeQuorum 2 (Kafka 3.9). taken_ms: when its
    answer arrived, by the wall clock of this machine.
    """

    cluster_id: str
    leader_id: int
    epoch: int
    high_watermark: int
    voters: dict[int, Member]
    observers: dict[int, Member]
    address: Address
    all_observers: tuple[Member, ...] = ()
    listeners: dict[int, dict[str, Address]] = {}  # noqa: RUF012 - never changed
    taken_ms: int = 0

    @property
    def end_offset(self) -> int:
        """The end of the leader's log."""
        return self.voters[self.leader_id].end_offset if self.leader_id in self.voters else self.high_watermark

    def is_member(self, node_id: int) -> bool:
        """Whether a node is a voter, or an observer, which has fetched in the last minutes."""
        return node_id in self.voters or node_id in self.observers

    def lag(self, member: Member) -> int | None:
        """The records of the leader's log that a replica lacks; None if its offset is unknown."""
        return None if member.end_offset < 0 else max(0, self.end_offset - member.end_offset)


class NoLeader(OSError):
    """No leader of the quorum was found; the text is one line with the answer of each node."""


class Refused(NoLeader):
    """No leader was found, and a node does not accept this client, or the client does not accept the node."""


class NotAnswered(ConnectionError):
    """The node does not lead, or does not have what was asked for; the text is the reason."""


class Controllers:
    """The controllers of a quorum that a client knows: those that it was given, and those that they name.

    cluster_id: no other cluster is accepted; empty for any. for_log: whether the leader's log will be read, for which a
    broker will not do. security: None for PLAINTEXT. seconds: for each answer.
    addresses: in the order in which they are asked; the last leader is the first.
    said: `HOST:PORT` -> why that node is not taken for the leader; empty once a leader is found.
    """

    def __init__(
        self, addresses: list[Address], client_id: str, security: ClientSecurity | None = None, *,
        seconds: float = ASK_S, cluster_id: str = "", for_log: bool = False,
    ) -> None:  # fmt: skip
        self.addresses = list(addresses)
        self.client_id = client_id
        self.security = security
        self.cluster_id = cluster_id
        self.said: dict[str, str] = {}
        self._seconds = seconds
        self._for_log = for_log

    def connect(self) -> tuple[Connection, View]:
        """A connection to the leader, and the quorum as it describes it; each node is asked once. Raises NoLeader."""
        asked: set[Address] = set()
        is_refused = False
        while True:
            address = next((each for each in self.addresses if each not in asked), None)
            if address is None or len(asked) == ADDRESSES_MAX:
                raise (Refused if is_refused else NoLeader)(self.answers())
            asked.add(address)
            connection = None
            try:
                connection = Connection(*address, self.client_id, self._seconds, self.security)
                view = self._ask(connection)._replace(address=address, taken_ms=int(time.time() * 1000))
            except FAILURES as error:
                if connection is not None:
                    connection.socket.close()
                self.note(address, str(error) or type(error).__name__)
                is_refused = is_refused or isinstance(error, NotAuthenticated)
                continue
            self.said.clear()
            self.cluster_id = view.cluster_id or self.cluster_id
            self.addresses.remove(address)
            self.addresses.insert(0, address)
            return connection, view

    def note(self, address: Address, text: str) -> None:
        """Note why a node is not taken for the leader."""
        self.said[f"{address[0]}:{address[1]}"] = text

    def answers(self) -> str:
        """What each node said, in one line."""
        return "; ".join(f"{where}: {text}" for where, text in self.said.items())

    def _ask(self, connection: Connection) -> View:
        """The quorum as a node describes it that leads. Raises one of FAILURES."""
        cluster_id = self._learn(connection)
        answer = connection.ask(describe_request())
        partitions = answer.topics[0].partitions if answer.topics else ()
        codes = [answer.error_code, *(partition.error_code for partition in partitions)]
        for denial in DENIALS:
            if denial in codes:
                text = log_denial("DescribeQuorum", denial) if self._for_log else error_name(denial)
                raise NotAuthenticated(text, denial, text)
        if answer.error_code:
            raise NotAnswered(error_name(answer.error_code))
        if not partitions:
            raise NotAnswered("an answer without the metadata partition")
        description = partitions[0]
        if description.error_code:
            raise NotAnswered(f"{error_name(description.error_code)}, not the leader")
        view = _view(cluster_id, description, answer.nodes)
        # A controller that has not registered yet is missing in DescribeCluster.
        self._add(address for listeners in view.listeners.values() for address in listeners.values())
        return view

    def _learn(self, connection: Connection) -> str:
        """Learn the other controllers of a node, the active one first; the cluster id, empty where it is unknown."""
        try:
            cluster = connection.ask(describe_cluster_request())
        except (ApiError, EncodeError):
            if self._for_log:
                raise NotAnswered("it is no controller of Kafka 3.7 or later") from None
            return ""
        if self._for_log and cluster.error_code in (
            Error.MISMATCHED_ENDPOINT_TYPE, Error.UNSUPPORTED_ENDPOINT_TYPE
        ):  # fmt: skip
            raise NotAnswered("it is a broker, not a controller")
        # Controllers cannot be described before they register, but their quorum can.
        cluster_id = str(cluster.cluster_id or "")
        if self.cluster_id and cluster_id and cluster_id != self.cluster_id:
            raise NotAnswered(f"its cluster id is {cluster_id}, not {self.cluster_id}")
        nodes = sorted(cluster.brokers, key=lambda node: node.broker_id != cluster.controller_id)
        self._add((node.host, node.port) for node in nodes)
        return cluster_id

    def _add(self, addresses: Iterable[Address]) -> None:
        for address in addresses:
            if address not in self.addresses and len(self.addresses) < ADDRESSES_MAX:
                self.addresses.append(address)


def look(
    addresses: list[Address], client_id: str, seconds: float = ASK_S, security: ClientSecurity | None = None
) -> View:
    """Find the leader and ask it. seconds: for the answer of each node. Raises NoLeader."""
    connection, view = Controllers(addresses, client_id, security, seconds=seconds).connect()
    connection.socket.close()
    return view


def look_in_parallel(
    addresses: list[Address], client_id: str, seconds: float, security: ClientSecurity | None = None
) -> View:
    """As `look`, with all addresses asked at the same time. Raises NoLeader."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    said = []
    is_refused = False
    with ThreadPoolExecutor(max(1, len(addresses))) as threads:
        asked = [threads.submit(look, [address], client_id, seconds, security) for address in addresses]
        for future in as_completed(asked):
            try:
                return future.result()
            except NoLeader as error:
                said.append(str(error))
                is_refused = is_refused or isinstance(error, Refused)
    raise (Refused if is_refused else NoLeader)("; ".join(sorted(said)))


def log_denial(api: str, code: int) -> str:
    """Why the log is not read, where a node refuses this principal."""
    return f"{api}: {error_name(code)}: its principal needs ClusterAction and Describe on Cluster"


def describe_cluster_request() -> DescribeClusterRequest:
    """A DescribeCluster request for the controllers (KIP-919)."""
    return DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=CONTROLLERS)


def describe_request() -> DescribeQuorumRequest:
    """A DescribeQuorum request for the metadata partition."""
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
    return DescribeQuorumRequest(topics=(topic,))


def _view(cluster_id: str, description: Any, nodes: Any) -> View:
    observers = tuple(_member(state) for state in description.observers)
    return View(
        cluster_id,
        description.leader_id,
        description.leader_epoch,
        description.high_watermark,
        {state.replica_id: _member(state) for state in description.current_voters},
        {each.id: each for each in sorted(observers, key=lambda member: member.last_fetch_ms)},
        ("", 0),
        observers,
        {node.node_id: {each.name: (each.host, each.port) for each in node.listeners} for node in nodes or ()},
    )


def _member(state: Any) -> Member:
    directory_id = "" if state.replica_directory_id == NO_DIRECTORY else uuid_text(state.replica_directory_id)
    return Member(
        state.replica_id,
        directory_id,
        state.log_end_offset,
        state.last_fetch_timestamp,
        state.last_caught_up_timestamp,
    )
