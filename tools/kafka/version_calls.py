"""The nodes of a cluster, and the versions that each serves: Metadata or DescribeCluster, then ApiVersions (KIP-35)."""

from __future__ import annotations

from typing import NamedTuple

from records.errors import Error
from records.java.java_order import DEFAULT_CAPACITY, bucket_order, hash_code
from records.messages.cluster import DescribeClusterRequest, MetadataRequest
from tools.client.admin import ENDPOINT_CONTROLLERS, Admin
from tools.client.exceptions import PACKAGE, KafkaError
from tools.command_line.java_texts import Uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tools.client.settings import Settings

AUTHENTICATION = (Error.SASL_AUTHENTICATION_FAILED, Error.UNSUPPORTED_SASL_MECHANISM)


class Node(NamedTuple):
    """A node as Kafka's clients print it. rack: None if it has none."""

    id: int
    host: str
    port: int
    rack: str | None = None

    def __str__(self) -> str:
        rack = "null" if self.rack is None else self.rack
        return f"{self.host}:{self.port} (id: {self.id} rack: {rack} isFenced: false)"

    def code(self) -> int:
        """`Node.hashCode` of Java, unsigned."""
        code = 31 + hash_code(self.host)
        # The last is the hash of `false`.
        for part in (self.id, self.port, 0 if self.rack is None else hash_code(self.rack), 1237):
            code = 31 * code + part
        return code & 0xFFFFFFFF


def nodes_of(settings: Settings) -> list[Node]:
    """The brokers, or the controllers, in Java's order. Raises Uncaught if none of the bootstrap nodes answers."""
    places = tuple(dict.fromkeys(settings.addresses))
    for address in places:
        alone = settings._replace(addresses=(address,))
        try:
            nodes = _ask_nodes(alone)
        except KafkaError as error:
            if error.code in AUTHENTICATION:
                raise
            continue
        except Uncaught as error:
            if error.java_class == f"{PACKAGE}.SslAuthenticationException":
                raise
            continue
        return bucket_order(nodes, [node.code() for node in nodes], DEFAULT_CAPACITY)
    api = "DESCRIBE_CLUSTER" if settings.at_controllers else "METADATA"
    listed = ", ".join(str(Node(-number, *address)) for number, address in enumerate(places, 1))
    raise Uncaught("java.lang.RuntimeException", f"Request {api} failed on brokers [{listed}]")


def _ask_nodes(settings: Settings) -> list[Node]:
    """The nodes that the first address knows. Raises Uncaught, KafkaError."""
    with Admin(settings) as admin:
        address = settings.addresses[0]
        if settings.at_controllers:
            request: Any = DescribeClusterRequest(
                include_cluster_authorized_operations=False, endpoint_type=ENDPOINT_CONTROLLERS
            )
            answer = admin.ask_once(address, request)
            if answer.error_code:
                raise KafkaError(answer.error_code, answer.error_message)
            return [Node(node.broker_id, node.host, node.port, node.rack) for node in answer.brokers]
        answer = admin.ask_once(address, MetadataRequest(topics=None))
        return [Node(node.node_id, node.host, node.port, node.rack) for node in answer.brokers]


def versions_of(node: Node, settings: Settings) -> dict[int, tuple[int, int]]:
    """API key -> least and greatest version. Raises Uncaught."""
    with Admin(settings) as admin:
        return admin.versions_of((node.host, node.port))
