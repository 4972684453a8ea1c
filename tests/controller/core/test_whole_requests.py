"""What Kafka's managers return by `ControllerResult.atomicOf` takes effect at one batch boundary, or not at all.

At a metadata.version without transactions a request that does not fit in one batch is refused as a whole; later it is
one transaction. Which requests these are was read from the class files of Kafka 4.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.interface.access import Access
from controller.rules.authorizer import StandardAuthorizer
from records.messages.acls import CreateAclsRequest, DeleteAclsRequest
from records.messages.configs import AlterConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.quotas import AlterClientQuotasRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest
from records.messages.scram import AlterUserScramCredentialsRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.transactions import BeginTransactionRecord, EndTransactionRecord
from tests.controller.rig import Rig, new_topic

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 40
NAMES = [f"t{number}" for number in range(COUNT)]
TOPIC, LITERAL, READ, ALLOW, ANY = 2, 3, 3, 3, 1


def new_acl(name: str) -> CreateAclsRequest.AclCreation:
    return CreateAclsRequest.AclCreation(
        resource_type=TOPIC, resource_name=name, resource_pattern_type=LITERAL, principal="User:ann", host="*",
        operation=READ, permission_type=ALLOW,
    )  # fmt: skip


def incremental() -> Any:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(name="retention.ms", config_operation=0, value="60000")
    resources = tuple(resource(resource_type=TOPIC, resource_name=name, configs=(change,)) for name in NAMES)
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=False)


def full() -> Any:
    resource = AlterConfigsRequest.AlterConfigsResource
    value = resource.AlterableConfig(name="retention.ms", value="60000")
    resources = tuple(resource(resource_type=TOPIC, resource_name=name, configs=(value,)) for name in NAMES)
    return AlterConfigsRequest(resources=resources, validate_only=False)


def quotas() -> Any:
    entry = AlterClientQuotasRequest.EntryData
    operation = entry.OpData(key="producer_byte_rate", value=1000.0, remove=False)
    parts = [(entry.EntityData(entity_type="user", entity_name=name),) for name in NAMES]
    entries = tuple(entry(entity=part, ops=(operation,)) for part in parts)
    return AlterClientQuotasRequest(entries=entries, validate_only=False)


def scram() -> Any:
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    given: dict[str, Any] = {"mechanism": 1, "iterations": 4096, "salt": b"salt", "salted_password": b"salted"}
    return AlterUserScramCredentialsRequest(
        deletions=(), upsertions=tuple(upsertion(name=name, **given) for name in NAMES)
    )


def moves() -> Any:
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    moved = topic.ReassignablePartition(partition_index=0, replicas=(1,))
    return AlterPartitionReassignmentsRequest(topics=tuple(topic(name=name, partitions=(moved,)) for name in NAMES))


def growth() -> Any:
    topic = CreatePartitionsRequest.CreatePartitionsTopic
    topics = tuple(topic(name=name, count=2, assignments=None) for name in NAMES)
    return CreatePartitionsRequest(topics=topics, timeout_ms=1000, validate_only=False)


def deletion() -> Any:
    topics = tuple(DeleteTopicsRequest.DeleteTopicState(name=name, topic_id=bytes(16)) for name in NAMES)
    return DeleteTopicsRequest(topics=topics, timeout_ms=1000)


def no_acls() -> Any:
    wanted = DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=ANY, resource_name_filter=None, pattern_type_filter=ANY, principal_filter=None,
        host_filter=None, operation=ANY, permission_type=ANY,
    )  # fmt: skip
    return DeleteAclsRequest(filters=(wanted,))


REQUESTS: list[Callable[[], Any]] = [
    lambda: CreateTopicsRequest(topics=tuple(new_topic(f"new-{name}", (0, 1)) for name in NAMES)),
    lambda: CreateTopicsRequest(topics=(new_topic("wide", *[(0, 1)] * COUNT, retention_ms="60000"),)),
    deletion, growth, moves, incremental, full, quotas, scram,
    lambda: CreateAclsRequest(creations=tuple(new_acl(f"new-{name}") for name in NAMES)), no_acls,
]  # fmt: skip


def cluster(metadata_version: int) -> Rig:
    """Topics and ACLs, of which each took effect alone; a batch has room for some ten records."""
    access = Access(StandardAuthorizer({"User:ANONYMOUS"}))
    rig = Rig(metadata_version=metadata_version, access=access, metadata_max_batch_size_in_bytes=1000)
    rig.lead().brokers(0, 1)
    for name in NAMES:
        rig.create(name, (0,))
        rig.ask(CreateAclsRequest(creations=(new_acl(name),)))
    return rig


@pytest.mark.parametrize("made", REQUESTS, ids=range(len(REQUESTS)))
def test_without_transactions_a_request_that_fits_in_no_batch_changes_nothing(made: Callable[[], Any]) -> None:
    rig = cluster(12)
    before, end_offset = rig.state.contents(), rig.end_offset

    rig.ask(made())

    assert (rig.state.contents(), rig.end_offset) == (before, end_offset)


@pytest.mark.parametrize("made", REQUESTS, ids=range(len(REQUESTS)))
def test_with_transactions_it_takes_effect_at_the_end_of_one(made: Callable[[], Any]) -> None:
    rig = cluster(20)
    begin = rig.end_offset

    rig.ask(made())

    records = [record for record, _ in rig.records(begin)]
    assert [type(record) for record in (records[0], records[-1])] == [BeginTransactionRecord, EndTransactionRecord]
    assert len(records) >= COUNT + 2
