"""Calls about the quorum: DescribeQuorum, AddRaftVoter, RemoveRaftVoter (KIP-595, KIP-853)."""

from __future__ import annotations

from records.errors import Error
from records.messages.quorum import DescribeQuorumRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from records.metadata_log import METADATA_TOPIC
from tools.client.admin import Call
from tools.client.exceptions import KafkaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tools.client.admin import Admin
    from tools.kafka.new_voter import NewVoter


def describe_quorum(admin: Admin) -> tuple[Any, dict[int, list[str]]]:
    """The partition of the response, and the endpoints of each voter as texts. Raises Uncaught."""
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,))
    request = DescribeQuorumRequest(topics=(topic,))
    description: tuple[Any, dict[int, list[str]]] = admin.result(
        Call("describeMetadataQuorum", lambda _: request, _read_description)
    )
    return description


def _read_description(response: Any) -> tuple[Any, dict[int, list[str]]]:
    # Errors of DescribeQuorum are repeated where they may pass.
    if response.error_code:
        raise KafkaError(response.error_code, response.error_message, is_final=False)
    if len(response.topics) != 1:
        text = f"DescribeMetadataQuorum received {len(response.topics)} topics when 1 was expected"
        raise KafkaError(Error.UNKNOWN_SERVER_ERROR, text)
    topic = response.topics[0]
    if topic.topic_name != METADATA_TOPIC:
        text = f"received a topic with name {topic.topic_name} when {METADATA_TOPIC} was expected"
        raise KafkaError(Error.UNKNOWN_SERVER_ERROR, f"DescribeMetadataQuorum {text}")
    if len(topic.partitions) != 1:
        text = f"received a topic {METADATA_TOPIC} with {len(topic.partitions)} partitions when 1 was expected"
        raise KafkaError(Error.UNKNOWN_SERVER_ERROR, f"DescribeMetadataQuorum {text}")
    partition = topic.partitions[0]
    if partition.partition_index != 0:
        text = f"received a single partition with index {partition.partition_index} when 0 was expected"
        raise KafkaError(Error.UNKNOWN_SERVER_ERROR, f"DescribeMetadataQuorum {text}")
    if partition.error_code:
        raise KafkaError(partition.error_code, partition.error_message, is_final=False)
    endpoints = {
        int(node.node_id): [_endpoint(listener) for listener in node.listeners] for node in response.nodes
    }  # fmt: skip
    return partition, endpoints


def _endpoint(listener: Any) -> str:
    host = f"[{listener.host}]" if ":" in listener.host else listener.host
    return f"{listener.name}://{host}:{listener.port}"


def add_voter(admin: Admin, voter: NewVoter) -> None:
    """Add a voter to the quorum. Raises Uncaught where the leader refuses it."""
    listeners = tuple(
        AddRaftVoterRequest.Listener(name=name, host=host, port=port) for name, host, port in voter.endpoints
    )

    def request(timeout_ms: int) -> AddRaftVoterRequest:
        return AddRaftVoterRequest(
            cluster_id=None,
            timeout_ms=timeout_ms,
            voter_id=voter.id,
            voter_directory_id=voter.directory_id,
            listeners=listeners,
        )

    admin.result(Call("addRaftVoter", request, _check_change))


def remove_voter(admin: Admin, voter_id: int, directory_id: bytes) -> None:
    """Remove a voter from the quorum. Raises Uncaught where the leader refuses it."""
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter_id, voter_directory_id=directory_id)
    admin.result(Call("removeRaftVoter", lambda _: request, _check_change))


def _check_change(response: Any) -> None:
    if response.error_code:
        # Only a node that no longer leads is asked again.
        moved = response.error_code in (Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER)
        raise KafkaError(response.error_code, response.error_message, is_final=not moved)
