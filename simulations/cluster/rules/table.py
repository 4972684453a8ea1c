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
    CreateTopicsRequest: topics.check_creation,
    CreatePartitionsRequest: topics.check_growth,
    DeleteTopicsRequest: topics.check_deletion,
    IncrementalAlterConfigsRequest: configs.check_alter,
    AlterConfigsRequest: configs.check_alter,
    DescribeConfigsRequest: configs.check_describe,
    AlterPartitionRequest: partitions.check_alter,
    AssignReplicasToDirsRequest: partitions.check_assignment,
    AlterPartitionReassignmentsRequest: partitions.check_reassignment,
    ListPartitionReassignmentsRequest: partitions.check_listing,
    ElectLeadersRequest: partitions.check_election,
    BrokerHeartbeatRequest: nodes.heartbeat,
    BrokerRegistrationRequest: nodes.check_registration,
    UnregisterBrokerRequest: nodes.check_unregistration,
    AllocateProducerIdsRequest: nodes.check_allocation,
    DescribeClusterRequest: nodes.check_cluster_description,
    UpdateFeaturesRequest: nodes.check_features,
    ApiVersionsRequest: nodes.versions,
}
