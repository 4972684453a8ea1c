"""Requests of admin clients about brokers, controllers and the cluster's features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.messages.cluster import DescribeClusterRequest
from records.messages.quorum import DescribeQuorumRequest
from records.messages.versions import ApiVersionsRequest
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.clients.admins import Admin

CONTROLLERS = 2
METADATA_VERSION = "metadata.version"
# The levels in requests; of metadata.version the last ones of releases, and some between.
LEVELS = {
    METADATA_VERSION: (13, 14, 15, 17, 20, 21, 22, 23, 24, 25, 27, 28, 29, 30, 33),
    "transaction.version": (0, 1, 2),
    "group.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "share.version": (0, 1, 2),
    "streams.version": (0, 1),
}


def set_feature(admin: Admin) -> None:
    """Raise or lower a level, or validate that."""
    name = METADATA_VERSION if admin.rng.random() < 0.5 else admin.one_of(tuple(LEVELS))
    is_up = admin.rng.random() < 0.7
    asked = ("set feature", name, admin.one_of(LEVELS[name]), "up" if is_up else "down")
    if admin.rng.random() < 0.15:
        admin.ask_one(("validate", asked))
    else:
        admin.ask_one(asked, admin.tries())


def see_versions(admin: Admin) -> None:
    """ApiVersions: the levels in the response are compared with the log by `watch`."""
    admin.ask_only(ApiVersionsRequest(client_software_name="admin", client_software_version="1"))


def unregister(admin: Admin) -> None:
    """Unregister a broker, dead or alive."""
    admin.ask_one(("unregister", admin.one_of([machine.id for machine in admin.run.brokers])), admin.tries())


def unregister_eligible(admin: Admin) -> None:
    """Unregister a member of an ELR, if there is one (KIP-966)."""
    partitions = admin.run.watch.log_rules.image.partitions.values()
    if members := sorted({broker_id for partition in partitions for broker_id in partition.elr}):
        admin.ask_one(("unregister", admin.one_of(members)), admin.tries())
    else:
        admin.later()


def describe(admin: Admin) -> None:
    """DescribeCluster or DescribeQuorum."""
    if admin.rng.random() < 0.5:
        admin.ask_only(DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=CONTROLLERS))
        return
    wanted = DescribeQuorumRequest.TopicData
    partition = wanted.PartitionData(partition_index=0)
    admin.ask_only(DescribeQuorumRequest(topics=(wanted(topic_name=METADATA_TOPIC, partitions=(partition,)),)))


ASKS: dict[str, Callable[[Admin], None]] = {
    "set_feature": set_feature,
    "see_versions": see_versions,
    "unregister": unregister,
    "unregister_eligible": unregister_eligible,
    "describe": describe,
}
