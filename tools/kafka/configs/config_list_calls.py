"""Calls that list what may have configs: topics, brokers, groups, client metrics, users with credentials."""

from __future__ import annotations

from typing import NamedTuple

from records.errors import Error
from records.java.java_order import hash_order, integer_order
from records.messages.cluster import DescribeClusterRequest, MetadataRequest
from records.messages.configs import ListConfigResourcesRequest
from records.messages.groups import ListGroupsRequest
from records.messages.scram import DescribeUserScramCredentialsRequest
from tools.client.admin import Call
from tools.client.exceptions import KAFKA_EXCEPTION, KafkaError, execution_exception
from tools.command_line.java_texts import Uncaught
from tools.kafka.configs.config_calls import of_brokers, wait_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from records.resource_types import ResourceType
    from tools.client.admin import Admin

ENDPOINT_BROKERS, ENDPOINT_CONTROLLERS = 1, 2


class Credentials(NamedTuple):
    """The SCRAM credentials of a user: mechanism and iterations of each; or why they cannot be described."""

    user: str
    infos: tuple[tuple[int, int], ...]
    error: Uncaught | None


def topic_names(admin: Admin) -> list[str]:
    """In the order of Java's map. Raises Uncaught, wrapped as by a Java future; so do all functions here."""
    of_brokers(admin)
    request = MetadataRequest(topics=None)
    names: list[str] = admin.result(
        Call("listTopics", lambda _: request, lambda response: [str(topic.name) for topic in response.topics])
    )
    return hash_order(names)


def node_ids(admin: Admin) -> list[int]:
    """The brokers that are not fenced; the controllers where the client has addresses of controllers."""
    kind = ENDPOINT_CONTROLLERS if admin.settings.at_controllers else ENDPOINT_BROKERS
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=kind)

    def outcome(response: Any) -> list[int]:
        if response.error_code:
            raise KafkaError(response.error_code, response.error_message)
        return [node.broker_id for node in response.brokers]

    return integer_order(admin.result(Call("listNodes", lambda _: request, outcome)))


def resource_names(admin: Admin, kind: ResourceType) -> list[str]:
    """The resources of a type that have configs."""
    of_brokers(admin)
    request = ListConfigResourcesRequest(resource_types=(kind,))

    def outcome(response: Any) -> list[str]:
        if response.error_code:
            raise KafkaError(response.error_code)
        return [each.resource_name for each in response.config_resources]

    names: list[str] = admin.result(Call("listConfigResources", lambda _: request, outcome))
    return names


def group_ids(admin: Admin) -> list[str]:
    """The groups of all brokers, in the order of Java's map."""
    brokers = MetadataRequest(topics=())
    try:
        of_brokers(admin)
        nodes: dict[int, str] = admin.result(Call("findAllBrokers", lambda _: brokers, _nodes))
    except Uncaught as error:
        raise execution_exception(
            Uncaught(KAFKA_EXCEPTION, "Failed to find brokers to send ListGroups", error.cause)
        ) from None
    groups: list[str] = []
    request = ListGroupsRequest()
    for node, text in nodes.items():
        try:
            groups += admin.call(Call("listGroups", lambda _: request, _groups, node))
        except Uncaught as error:
            code = error.code if isinstance(error, KafkaError) else Error.UNKNOWN_SERVER_ERROR
            raise execution_exception(KafkaError(code, f"Error listing groups on {text}: {error.message}")) from None
    return hash_order(groups)


def _nodes(response: Any) -> dict[int, str]:
    """The brokers of a Metadata response: id -> as Java writes a node."""
    nodes = {}
    for broker in response.brokers:
        rack = "null" if broker.rack is None else broker.rack
        nodes[broker.node_id] = f"{broker.host}:{broker.port} (id: {broker.node_id} rack: {rack} isFenced: false)"
    return nodes


def _groups(response: Any) -> list[str]:
    if response.error_code:
        loading = (Error.COORDINATOR_LOAD_IN_PROGRESS, Error.COORDINATOR_NOT_AVAILABLE)
        raise KafkaError(response.error_code, is_final=response.error_code not in loading)
    return [group.group_id for group in response.groups]


def described_credentials(admin: Admin, users: Sequence[str]) -> list[Credentials]:
    """users: none for all. A user without credentials is left out."""
    of_brokers(admin)
    kind = DescribeUserScramCredentialsRequest
    listed = tuple(kind.UserName(name=user) for user in users)
    request = kind(users=listed or None)

    def outcome(response: Any) -> list[Credentials]:
        if response.error_code:
            raise KafkaError(response.error_code, response.error_message)
        return [
            Credentials(
                result.user,
                tuple((info.mechanism, info.iterations) for info in result.credential_infos),
                execution_exception(KafkaError(result.error_code, result.error_message)) if result.error_code else None,
            )
            for result in response.results
            if result.error_code != Error.RESOURCE_NOT_FOUND
        ]

    credentials: list[Credentials] = wait_for(
        admin, Call("describeUserScramCredentials", lambda _: request, outcome), 30.0
    )
    return credentials
