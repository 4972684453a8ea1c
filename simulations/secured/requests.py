"""Requests of rogue clients. Some would do harm if a node served them, such as a Vote with a very high epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS
from records.codec import encode
from records.data import DefaultPrincipalData
from records.messages.acls import CreateAclsRequest, DescribeAclsRequest
from records.messages.brokers import BrokerHeartbeatRequest, UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.elections import BeginQuorumEpochRequest, VoteRequest
from records.messages.envelope import EnvelopeRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.quorum import DescribeQuorumRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata_log import METADATA_TOPIC
from records.schema import schema_of
from simulations.secured.people import (
    ADMIN,
    MALLORY,
    ROGUE_USERS,
)
from simulations.secured.rights import (
    ALL,
    ALLOW,
    ANY,
    CLUSTER,
    CLUSTER_NAME,
    GROUP_CONFIG,
    LITERAL,
    TOPIC,
)
from simulations.sockets.rogue_clients import frame, request_bytes
from simulations.sockets.rogue_envelopes import principal
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


CLUSTER_ID = "somewhere"
FAR_EPOCH = 1_000_000
SECOND_MS = 1000
# Only rogue clients use these topics.
TOPICS = ("a", "alice", "alice-1", "alicia", "bob")


def ask(request: Any, number: int = 1) -> bytes:
    """A request in the newest version."""
    api = APIS[schema_of(type(request)).api_key or 0]
    return frame(request_bytes(request, api.versions[1], number))


def pick(rng: Random, items: Any) -> Any:
    return items[int(rng.random() * len(items))]


def _vote(_rng: Random) -> Any:
    topic = VoteRequest.TopicData(
        topic_name=METADATA_TOPIC,
        partitions=(
            VoteRequest.TopicData.PartitionData(
                partition_index=0, replica_epoch=FAR_EPOCH, replica_id=2, last_offset_epoch=FAR_EPOCH,
                last_offset=1 << 40,
            ),
        ),
    )  # fmt: skip
    return VoteRequest(cluster_id=None, topics=(topic,))


def _begin(_rng: Random) -> Any:
    topic = BeginQuorumEpochRequest.TopicData(
        topic_name=METADATA_TOPIC,
        partitions=(
            BeginQuorumEpochRequest.TopicData.PartitionData(partition_index=0, leader_id=2, leader_epoch=FAR_EPOCH),
        ),
    )
    return BeginQuorumEpochRequest(cluster_id=None, topics=(topic,))


def _describe_quorum(_rng: Random) -> Any:
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    return DescribeQuorumRequest(
        topics=(DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,)),)
    )


def create(rng: Random, name: str | None = None) -> Any:
    """Creates two topics, or the one with this name."""
    wanted = CreateTopicsRequest.CreatableTopic
    names = dict.fromkeys((pick(rng, TOPICS), pick(rng, TOPICS)) if name is None else (name,))
    topics = tuple(
        wanted(name=name, num_partitions=1, replication_factor=1, assignments=(), configs=()) for name in names
    )
    return CreateTopicsRequest(topics=topics, timeout_ms=SECOND_MS)


def delete(rng: Random, name: str | None = None) -> Any:
    """Deletes a topic."""
    topic = DeleteTopicsRequest.DeleteTopicState(name=name or pick(rng, TOPICS), topic_id=bytes(16))
    return DeleteTopicsRequest(topics=(topic,), timeout_ms=SECOND_MS)


def grow(rng: Random, name: str | None = None) -> Any:
    """Adds a partition to a topic."""
    topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name or pick(rng, TOPICS), count=2, assignments=None)
    return CreatePartitionsRequest(topics=(topic,), timeout_ms=SECOND_MS, validate_only=False)


def configure(rng: Random, name: str | None = None) -> Any:
    """Changes a config of a topic."""
    wanted = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = wanted.AlterableConfig(name="retention.ms", config_operation=0, value=str(between(rng, 1, 9)))
    resource = wanted(resource_type=TOPIC, resource_name=name or pick(rng, TOPICS), configs=(config,))
    return IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)


def configure_both(rng: Random, name: str) -> Any:
    """Changes a config of a topic and one of a group of the same name."""
    wanted = IncrementalAlterConfigsRequest.AlterConfigsResource
    resources = [
        wanted(resource_type=kind, resource_name=name, configs=(
            wanted.AlterableConfig(name=key, config_operation=0, value=str(between(rng, 50_000, 59_000))),
        ))
        for kind, key in ((TOPIC, "retention.ms"), (GROUP_CONFIG, "consumer.session.timeout.ms"))
    ]  # fmt: skip
    if rng.random() < 0.5:
        resources.reverse()
    return IncrementalAlterConfigsRequest(resources=tuple(resources), validate_only=False)


def _describe_configs(rng: Random) -> Any:
    wanted = DescribeConfigsRequest.DescribeConfigsResource
    return DescribeConfigsRequest(
        resources=(wanted(resource_type=TOPIC, resource_name=pick(rng, TOPICS), configuration_keys=None),)
    )


def _allow_all(_rng: Random) -> Any:
    return acl(CLUSTER, CLUSTER_NAME, LITERAL, f"User:{MALLORY}", ANY, ALL, ALLOW)


def _describe_acls(_rng: Random) -> Any:
    return DescribeAclsRequest(
        resource_type_filter=1, resource_name_filter=None, pattern_type_filter=1, principal_filter=None,
        host_filter=None, operation=1, permission_type=1,
    )  # fmt: skip


def _update_features(_rng: Random) -> Any:
    update = UpdateFeaturesRequest.FeatureUpdateKey(feature="group.version", max_version_level=1, upgrade_type=1)
    return UpdateFeaturesRequest(feature_updates=(update,))


def _heartbeat(_rng: Random) -> Any:
    return BrokerHeartbeatRequest(
        broker_id=101, broker_epoch=1, current_metadata_offset=1, want_fence=True, want_shut_down=False
    )


QUESTIONS: tuple[Callable[[Random], Any], ...] = (
    _vote, _begin, _describe_quorum, create, delete, grow, configure, _describe_configs, _allow_all, _describe_acls,
    _update_features, _heartbeat,
    # No broker has this id. The history of registrations does not record what rogue clients do.
    lambda _rng: UnregisterBrokerRequest(broker_id=199),
    lambda _rng: AllocateProducerIdsRequest(broker_id=101, broker_epoch=1),
    lambda _rng: DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2),
    lambda _rng: ListPartitionReassignmentsRequest(topics=None, timeout_ms=SECOND_MS),
    lambda _rng: ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=SECOND_MS),
    lambda _rng: AlterPartitionReassignmentsRequest(topics=(), timeout_ms=SECOND_MS),
)  # fmt: skip
# Requests for which ACLs of the world may exist.
OF_TOPICS = (create, create, create, delete, grow, configure, _describe_configs, _describe_quorum, _describe_acls)


FORWARDED = (
    create, delete, grow, configure, _describe_quorum,
    lambda _rng: AllocateProducerIdsRequest(broker_id=101, broker_epoch=1),
)  # fmt: skip


def envelope(rng: Random) -> Any:
    """An envelope in the name of an administrator, which only a broker may send."""
    inner = pick(rng, (_allow_all, create, _update_features))(rng)
    api = APIS[schema_of(type(inner)).api_key or 0]
    return EnvelopeRequest(
        request_data=request_bytes(inner, api.versions[1], 5), request_principal=principal(ADMIN),
        client_host_address=bytes((10, 0, 0, 9)),
    )  # fmt: skip


def forward(rng: Random, number: int) -> Any:
    """A request of a rogue client that a broker forwards. Some have another type of principal, and one of these has the
    name of a super user.
    """
    inner = pick(rng, (*FORWARDED, _allow_all, _update_features))(rng)
    name, address = pick(rng, ROGUE_USERS), pick(rng, (134, 135))
    kind = "User" if number % 3 < 2 else "Group"
    return seal(inner, number, kind, ADMIN if number % 6 == 5 else name, address)


def seal(inner: Any, number: int, kind: str, name: str, address: int = 134) -> EnvelopeRequest:
    """An envelope with a request of a principal. address: the last byte of its host's."""
    api = APIS[schema_of(type(inner)).api_key or 0]
    sender = bytes(2) + encode(DefaultPrincipalData(type=kind, name=name, token_authenticated=False), 0)
    return EnvelopeRequest(
        request_data=request_bytes(inner, api.versions[1], number), request_principal=sender,
        client_host_address=bytes((10, 0, 3, address)),
    )  # fmt: skip


def acl(kind: int, name: str, pattern: int, principal: str, host: str, operation: int, permission: int) -> Any:
    """Creates one ACL."""
    creation = CreateAclsRequest.AclCreation(
        resource_type=kind, resource_name=name, resource_pattern_type=pattern, principal=principal, host=host,
        operation=operation, permission_type=permission,
    )  # fmt: skip
    return CreateAclsRequest(creations=(creation,))
