"""The state of a quorum, as its leader describes it: the leader, and the offset of each replica (KIP-595)."""

from __future__ import annotations

import contextlib
import time
from typing import NamedTuple

from controller.config.file import read_config
from controller.config.values.addresses import parse_address
from controller.config.values.definition import ConfigError
from controller.config.values.listeners import host_and_port
from records.errors import ApiError, Error, error_name
from records.messages.cluster import DescribeClusterRequest
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.uuids import uuid_text
from records.wire import DecodeError
from tools.client.connection import Connection, NotAuthenticated

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from controller.config.node import NodeConfig
    from raft.network.security import ClientSecurity

Address = tuple[str, int]

CONTROLLERS = 2
ASK_S = 3.0
# A quorum has few controllers; of a longer list that a node returns, no more than this is asked.
ADDRESSES_MAX = 32
NO_DIRECTORY = bytes(16)
DENIED = error_name(Error.CLUSTER_AUTHORIZATION_FAILED)


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

    def lag(self, member: Member) -> int | None:
        """The records of the leader's log that a replica lacks; None if its offset is unknown."""
        return None if member.end_offset < 0 else max(0, self.end_offset - member.end_offset)


class NoQuorum(Exception):
    """No leader was found; the text has the answer of each node."""


class Refused(NoQuorum):
    """No leader was found, and a node does not accept this client, or the client does not accept the node."""


def add_quorum_options(parser: argparse.ArgumentParser) -> None:
    """The two ways to name a quorum, and the security of the connections to it."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bootstrap-controller", metavar="HOST:PORT,…", help="one or more controllers")
    where.add_argument("-c", "--config", metavar="FILE", help="a controller.properties that names the controllers")
    parser.add_argument(
        "--command-config", metavar="FILE",
        help="properties of the client, as for Kafka's tools: security.protocol, ssl.…, sasl.… (default: those that "
        "--config has for connections between controllers)",
    )  # fmt: skip


def security_of(options: argparse.Namespace) -> ClientSecurity | None:
    """The security of the connections, from the options; None for PLAINTEXT. Raises ConfigError, OSError."""
    if options.command_config is None:
        return None if options.config is None else node_security(read_config(options.config))
    from tools.client.client_config import read_client_config

    return read_client_config(options.command_config).security


def node_security(config: NodeConfig) -> ClientSecurity | None:
    """That of a node's own connections to the controllers; None for PLAINTEXT. Raises ConfigError."""
    if config.security_protocols[config.controller_listener_names[0].upper()] == "PLAINTEXT":
        return None  # and nothing of TLS and SASL is imported
    from controller.security.clients import client_of_node

    return client_of_node(config)


def addresses_of(options: argparse.Namespace) -> list[Address]:
    """The addresses of the controllers, from the options. Raises ConfigError, OSError."""
    if options.bootstrap_controller is not None:
        given = options.bootstrap_controller
        found = [host_and_port(part.strip()) for part in given.split(",")]
        if None in found:
            raise ConfigError(f"--bootstrap-controller {given}: HOST:PORT,… is expected")
        return [address for address in found if address is not None]
    config = read_config(options.config)
    return [*config.voters.values()] or list(config.bootstrap_servers)


class Known(NamedTuple):
    """What a configuration file says of a node: its id, and where its HTTP port may be."""

    node_id: int
    http: Address | None


def known_nodes(options: argparse.Namespace) -> dict[Address, Known]:
    """Address -> what the configuration says of the voter there; empty without one. Raises ConfigError, OSError.

    The file has the HTTP port of its own node; a voter on another host probably uses the same port.
    """
    if options.config is None:
        return {}
    config = read_config(options.config)
    http = parse_address(config.text("kraft.http.listener") or "")
    own = config.voters.get(config.node_id)
    found = {}
    for node_id, address in config.voters.items():
        is_other_host = own is not None and address[0] != own[0]
        here = http if node_id == config.node_id else (address[0], http[1]) if http and is_other_host else None
        found[address] = Known(node_id, here)
    return found


def look(
    addresses: list[Address], client_id: str, seconds: float = ASK_S, security: ClientSecurity | None = None
) -> View:
    """Find the leader and ask it. seconds: for the answer of each node. Raises NoQuorum."""
    said: dict[Address, str] = {}
    is_refused = False
    waiting = list(addresses)
    while waiting and len(said) < ADDRESSES_MAX:
        address = waiting.pop(0)
        if address in said:
            continue
        try:
            with Connection(*address, client_id, seconds=seconds, security=security) as connection:
                found, cluster_id, others = _ask(connection)
        except (OSError, ApiError, DecodeError) as error:
            said[address] = str(error) or type(error).__name__
            is_refused = is_refused or isinstance(error, NotAuthenticated)
            continue
        if isinstance(found, View):
            return found._replace(cluster_id=cluster_id, address=address, taken_ms=int(time.time() * 1000))
        said[address] = found
        is_refused = is_refused or found.startswith(DENIED)
        waiting += others[:ADDRESSES_MAX]
    texts = "; ".join(f"{host}:{port}: {text}" for (host, port), text in said.items())
    raise (Refused if is_refused else NoQuorum)(texts)


def look_in_parallel(
    addresses: list[Address], client_id: str, seconds: float, security: ClientSecurity | None = None
) -> View:
    """As `look`, with all addresses asked at the same time. Raises NoQuorum."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    said = []
    is_refused = False
    with ThreadPoolExecutor(max(1, len(addresses))) as threads:
        asked = [threads.submit(look, [address], client_id, seconds, security) for address in addresses]
        for future in as_completed(asked):
            try:
                return future.result()
            except NoQuorum as error:
                said.append(str(error))
                is_refused = is_refused or isinstance(error, Refused)
    raise (Refused if is_refused else NoQuorum)("; ".join(sorted(said)))


def _ask(connection: Connection) -> tuple[View | str, str, list[Address]]:
    """The leader's view, or why this node has none; the cluster id; the addresses of the other controllers."""
    cluster_id, others = "", []
    with contextlib.suppress(ApiError):
        cluster = connection.ask(
            DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=CONTROLLERS)
        )
        cluster_id = cluster.cluster_id
        # The active controller first.
        known = sorted(cluster.brokers, key=lambda node: node.broker_id != cluster.controller_id)
        others = [(node.host, node.port) for node in known]
    answer = connection.ask(describe_request())
    if answer.error_code:
        return error_name(answer.error_code), cluster_id, others
    if not answer.topics or not answer.topics[0].partitions:
        return "an answer without the metadata partition", cluster_id, others
    found = answer.topics[0].partitions[0]
    if found.error_code:
        return f"{error_name(found.error_code)}, not the leader", cluster_id, others
    return _view(found, answer.nodes), cluster_id, others


def describe_request() -> DescribeQuorumRequest:
    """A DescribeQuorum request for the metadata partition."""
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
    return DescribeQuorumRequest(topics=(topic,))


def _view(found: Any, nodes: Any) -> View:
    observers = tuple(_member(state) for state in found.observers)
    return View(
        "",
        found.leader_id,
        found.leader_epoch,
        found.high_watermark,
        {state.replica_id: _member(state) for state in found.current_voters},
        {each.id: each for each in sorted(observers, key=lambda member: member.last_fetch_ms)},
        ("", 0),
        observers,
        {node.node_id: {each.name: (each.host, each.port) for each in node.listeners} for node in nodes},
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
