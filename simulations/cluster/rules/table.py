"""The table of rules, by request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest
from simulations.cluster.rules import configs, nodes, partitions, topics

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.rules.case import Case

# Each takes a case, checks the records, and returns the check of the response.
RULES: dict[type, Callable[[Case], Callable[[Any], None]]] = {
    CreateTopicsRequest: topics.created,
    CreatePartitionsRequest: topics.grown,
    DeleteTopicsRequest: topics.deleted,
    IncrementalAlterConfigsRequest: configs.altered,
    AlterConfigsRequest: configs.altered,
    DescribeConfigsRequest: configs.described,
    AlterPartitionRequest: partitions.altered,
    AssignReplicasToDirsRequest: partitions.assigned,
    AlterPartitionReassignmentsRequest: partitions.moved,
    ListPartitionReassignmentsRequest: partitions.listed,
    ElectLeadersRequest: partitions.elected,
    BrokerHeartbeatRequest: nodes.heartbeat,
    BrokerRegistrationRequest: nodes.registered,
    UnregisterBrokerRequest: nodes.unregistered,
    AllocateProducerIdsRequest: nodes.allocated,
    DescribeClusterRequest: nodes.cluster_described,
    UpdateFeaturesRequest: nodes.features_set,
    ApiVersionsRequest: nodes.versions,
}
