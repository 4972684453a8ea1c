"""The value of each field of a request, by its name: mostly a meaningful one, sometimes any of its type."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from records.codec import encode
from records.data import DefaultPrincipalData
from records.features.levels import supported_features
from records.messages.brokers import BrokerRegistrationRequest
from records.messages.configs import AlterConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.controllers import ControllerRegistrationRequest
from records.messages.topics import CreateTopicsRequest
from records.schema import is_struct, schema_of
from tests.interop.cluster import CLUSTER_ID
from tests.oracle.generate.values import TOPIC_KEYS
from tests.oracle.release import KAFKA
from tests.oracle.wire.names import epoch_of, topic_id_of
from tests.oracle.wire.pools import (
    ALONE,
    BAD_BROKERS,
    BAD_TOPICS,
    BROKERS,
    EDGES,
    EPOCHS,
    KEYS,
    LOGGERS,
    METADATA_LOG,
    METADATA_LOG_ID,
    NEVER_NULL,
    NEVER_WILD,
    QUORUM,
    STRINGS,
    TOPICS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from records.schema import Field


class Values:
    """Draws values. rng: of the sequence; wild: the share of fields that have any value of their type."""

    def __init__(self, rng: Random, wild: float = 0.02) -> None:
        self.rng = rng
        self.wild = wild

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.rng.randrange(len(items))]

    def message(self, cls: type[Any], version: int) -> Any:
        """A message whose fields have values that are consistent now and then."""
        own = OF_STRUCT.get(cls.__qualname__)
        given = {} if own is None else own(self)
        values = {}
        for field in schema_of(cls).fields:
            if not field.at(version):
                values[field.name] = field.default_of()
            elif field.name in given:
                values[field.name] = given[field.name]
            elif field.tag is not None and self.chance(0.7):
                values[field.name] = field.default_of()
            else:
                values[field.name] = self._field(cls, field, version)
        return cls(**values)

    def _field(self, cls: type[Any], field: Field, version: int) -> Any:
        owner = cls.__qualname__.partition(".")[0]
        if field.nullable_at(version) and self.chance(0.1) and (owner, field.name) not in NEVER_NULL:
            return None
        if is_struct(field.element):
            if not field.is_array:
                return self.message(field.element, version)
            count = 1 if owner in ALONE else self.pick((0, 1, 1, 1, 1, 2, 3))
            items = tuple(self.message(field.element, version) for _ in range(count))
            return items + items[:1] if items and owner not in ALONE and self.chance(0.03) else items
        if field.is_array:
            return tuple(self._one(cls, field) for _ in range(self.pick((0, 1, 1, 2, 2, 3))))
        return self._one(cls, field)

    def _one(self, cls: type[Any], field: Field) -> Any:
        owner = cls.__qualname__.partition(".")[0]
        pool = POOLS.get((owner, field.name), POOLS.get(("", field.name)))
        may_be_wild = owner not in QUORUM and field.name not in NEVER_WILD
        if pool is None or (self.chance(self.wild) and may_be_wild):
            return self.any(field.element.name)
        return pool(self) if callable(pool) else self.pick(pool)

    def any(self, kind: str) -> Any:
        """Any value of a primitive type."""
        if kind in EDGES:
            return self.pick(EDGES[kind])
        match kind:
            case "string":
                return self.pick(STRINGS)
            case "uuid":
                return self.pick((bytes(16), METADATA_LOG_ID, b"\xff" * 16, b"0123456789abcdef"))
            case "bytes":
                return self.pick((b"", b"a", bytes(16), b"x" * 100))
        raise AssertionError(f"no values for {kind}")

    # Values that several fields share.

    def topic(self) -> str:
        return self.pick(BAD_TOPICS) if self.chance(0.05) else self.pick(TOPICS)

    def topic_id(self) -> bytes:
        if self.chance(0.08):
            return self.pick((bytes(16), METADATA_LOG_ID, b"0123456789abcdef"))
        return topic_id_of(self.pick(TOPICS))

    def broker(self) -> int:
        return self.pick(BAD_BROKERS) if self.chance(0.06) else self.pick(BROKERS)

    def broker_and_epoch(self) -> dict[str, Any]:
        """A broker and its epoch, or another one."""
        broker = self.broker()
        if self.chance(0.1):
            return {"broker_id": broker, "broker_epoch": self.pick((-1, 0, 5, epoch_of(11), 1 << 40))}
        return {"broker_id": broker, "broker_epoch": epoch_of(broker if broker in BROKERS else 11)}

    def resource(self) -> dict[str, Any]:
        """The type and the name of a config resource."""
        kind = self.pick((2, 2, 2, 4, 4, 8, 16, 32)) if self.chance(0.97) else self.pick((0, 1, 3, -1, 99, 127))
        return {"resource_type": kind, "resource_name": self.resource_name(kind)}

    def resource_name(self, kind: int) -> str:
        if self.chance(0.03):
            return self.pick(STRINGS)
        match kind:
            case 2:
                return self.topic()
            case 4:
                return self.pick(("", "", "1", "1", "11", "x", "-1", "2147483648"))
            case 8:
                return self.pick(("1", "1", "", "11", "x"))
        return self.pick(("g", "h", ""))

    def configs(self, kind: int) -> tuple[tuple[str, str | None], ...]:
        """Keys and values of a resource of the kind."""
        if kind == 8:
            return tuple(
                (self.pick(LOGGERS), self.pick(("INFO", "DEBUG", "OFF", "x", "", None)))
                for _ in range(self.pick((1, 1, 2)))
            )
        keys = KEYS.get(kind, TOPIC_KEYS)
        chosen = [self.pick(list(keys)) for _ in range(self.pick((0, 1, 1, 1, 2)))]
        return tuple((key, self.pick(keys[key])) for key in chosen)

    def principal(self) -> bytes | None:
        """A principal as a broker serializes it, or invalid bytes."""
        data = DefaultPrincipalData(
            type=self.pick(("User", "User", "", "Group")), name="ann", token_authenticated=False
        )
        good = b"\0\0" + encode(data, 0)
        if self.chance(0.9):
            return good
        return self.pick((None, b"", b"\0", b"\0\1" + good[2:], good[:-3], good + b"x", b"\0\0", b"\xff\xff"))

    def address(self) -> bytes:
        if self.chance(0.9):
            return self.pick((b"\x7f\0\0\1", b"\x0a\0\0\7", bytes(15) + b"\1"))
        return self.pick((b"", b"\1", bytes(5), bytes(16), bytes(10) + b"\xff\xff\1\2\3\4", bytes(17)))


def directory(broker: int, number: int = 0) -> bytes:
    return b"dir-" + bytes([number]) + b"-----" + broker.to_bytes(6, "big", signed=True)


def registration(values: Values) -> dict[str, Any]:
    broker = max(values.broker(), 0)  # a negative one: see `deliberate/`
    fields: dict[str, Any] = {
        "broker_id": broker,
        "incarnation_id": b"inc-" + bytes([values.pick((0, 0, 0, 1))]) + b"-----" + struct.pack(">ixx", broker),
        "log_dirs": tuple(directory(broker, number) for number in range(values.pick((1, 1, 2)))),
        "rack": values.pick((None, None, "", "r")),
        "previous_broker_epoch": values.pick((-1, -1, -1, epoch_of(11), -2)),
        "is_migrating_zk_broker": values.chance(0.02),
    }
    if values.chance(0.97):
        fields["cluster_id"] = CLUSTER_ID
    return fields | endpoints_and_features(BrokerRegistrationRequest)


def endpoints_and_features(cls: Any) -> dict[str, Any]:
    """Listeners of a node that can be registered. Most others make stock resign: see `deliberate/`."""
    listener = cls.Listener(name="PLAINTEXT", host="h", port=9092, security_protocol=0)
    levels = sorted(supported_features(release=KAFKA).items())
    features = tuple(
        cls.Feature(name=name, min_supported_version=low, max_supported_version=high) for name, (low, high) in levels
    )
    return {"listeners": (listener,), "features": features}


def heartbeat(values: Values) -> dict[str, Any]:
    fields = values.broker_and_epoch()
    fields["current_metadata_offset"] = values.pick((0, 1 << 40, 1 << 40, 1 << 40))
    fields["want_fence"] = values.chance(0.1)
    fields["want_shut_down"] = values.chance(0.03)
    if values.chance(0.9):
        fields |= {"offline_log_dirs": (), "cordoned_log_dirs": None if values.chance(0.7) else ()}
    else:
        # The state of the broker stays: `heartbeat-offline-and-state` of the controller's level.
        fields |= {"current_metadata_offset": 0, "want_fence": False, "want_shut_down": False}
    return fields


def partition_change(values: Values) -> dict[str, Any]:
    return {
        "leader_epoch": values.pick((0, 0, 1, 2)),
        "partition_epoch": values.pick((0, 0, 1, 2)),
        "leader_recovery_state": values.pick((0, 0, 0, 0, 1, 9)),
    }


def new_topic(values: Values) -> dict[str, Any]:
    item = CreateTopicsRequest.CreatableTopic
    configs = values.configs(2) if values.chance(0.3) else ()
    fields: dict[str, Any] = {
        "configs": tuple(item.CreatableTopicConfig(name=name, value=value) for name, value in configs)
    }
    if values.chance(0.6):
        count = values.pick((1, 1, 2, 3))
        fields["assignments"] = tuple(
            item.CreatableReplicaAssignment(
                partition_index=index if values.chance(0.98) else 5, broker_ids=replicas(values)
            )
            for index in range(count)
        )
        fields |= {"num_partitions": -1, "replication_factor": -1}
        if values.chance(0.05):
            fields["num_partitions"] = values.pick((0, count))
    else:
        # Automatic placement is random where there is a choice; the level of the controller compares it.
        fields |= {"assignments": (), "num_partitions": values.pick((0, -2, 1, 2, 10001)), "replication_factor": 99}
    return fields


def replicas(values: Values) -> tuple[int, ...]:
    count = values.pick((1, 1, 2, 2, 3))
    chosen = values.rng.sample(BROKERS, count)
    return (*chosen, values.broker()) if values.chance(0.05) else tuple(chosen)


def altered(cls: Any, values: Values) -> dict[str, Any]:
    fields = values.resource()
    config = cls.AlterConfigsResource.AlterableConfig
    made = []
    for name, value in values.configs(fields["resource_type"]):
        item: dict[str, Any] = {"name": name, "value": value}
        if cls is IncrementalAlterConfigsRequest:
            item["config_operation"] = values.pick((0, 0, 0, 1, 2, 3)) if values.chance(0.98) else values.pick((4, -1))
            # Stock gives up leadership over these: `stock-fails`.
            if value is None and item["config_operation"] != 1:
                item["value"] = "1"
            if item["config_operation"] not in range(4):
                item["config_operation"] = 0
        made.append(config(**item))
    return {**fields, "configs": tuple(made)}


def described(values: Values) -> dict[str, Any]:
    fields = values.resource()
    keys = KEYS.get(fields["resource_type"])
    chosen = None
    if keys is not None and values.chance(0.6):
        chosen = tuple(values.pick(list(keys)) for _ in range(values.rng.randint(0, 3)))
    return {**fields, "configuration_keys": chosen}


def feature_update(values: Values) -> dict[str, Any]:
    known = supported_features(release=KAFKA)
    known.pop("kraft.version")  # its change is one of the voters
    name = values.pick((*known, "no.such", ""))
    low, high = known.get(name, (0, 1))
    return {
        "feature": name,
        "max_version_level": values.pick((low, high, high, high + 1, -1)) if values.chance(0.9) else 0,
        "upgrade_type": values.pick((0, 1, 1, 2, 3, 4, -1)),
    }


def deleted(values: Values) -> dict[str, Any]:
    if values.chance(0.4):
        return {"name": values.topic(), "topic_id": bytes(16)}
    topic_id = values.topic_id()
    return {"name": values.topic() if values.chance(0.05) else None, "topic_id": topic_id}


def quorum_topic(values: Values) -> str:
    return METADATA_LOG if values.chance(0.93) else values.pick(("", "t", METADATA_LOG[:-1]))


def small(values: Values) -> int:
    return 0 if values.chance(0.85) else values.pick((1, 2, 5, -1, 1000))


def cluster_id(values: Values) -> str | None:
    return CLUSTER_ID if values.chance(0.85) else values.pick((None, "", "x", CLUSTER_ID[:-1]))


def quorum_node(values: Values) -> int:
    return values.pick((1, 1, 1, 2, -1))


def timeout(values: Values) -> int:
    return 60_000 if values.chance(0.97) else values.pick((0, -1, 1 << 30))


def quota_entity(values: Values) -> dict[str, Any]:
    kind = values.pick(("user", "user", "client-id", "client-id", "ip", "users", ""))
    return {"entity_type": kind, "entity_name": values.pick((None, "a", "b", "", "10.0.0.1", "h h"))}


def quota_op(values: Values) -> dict[str, Any]:
    keys = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
            "connection_creation_rate", "x", "")  # fmt: skip
    return {
        "key": values.pick(keys),
        "value": values.pick((1.0, 1.5, 100.0, 0.0, -1.0, 1e19, 3e9)),
        "remove": values.chance(0.2),
    }


def acl(values: Values) -> dict[str, Any]:
    return {
        "resource_type": values.pick((2, 2, 3, 4, 5, 6, 7, 1, 99)),
        "resource_name": values.pick(("t", "u", "kafka-cluster", "", "*")),
        "resource_pattern_type": values.pick((3, 3, 4, 1, 2, 99)),
        "principal": values.pick(("User:ann", "User:ann", "User:*", "ann", "")),
        "host": values.pick(("*", "10.0.0.8", "", "10.0.0.0/8", "::1/128", "10.0.0.0/33", "x/1")),
        "operation": values.pick((*range(1, 16), 99)),
        "permission_type": values.pick((3, 3, 2, 1, 9)),
    }


def acl_filter(values: Values) -> dict[str, Any]:
    # Stock closes the connection of a request with the code 0 for UNKNOWN, as do we.
    return {
        "resource_type_filter": values.pick((1, 2, 2, 4, 99, 0)),
        "resource_name_filter": values.pick((None, None, "t", "", "*")),
        "pattern_type_filter": values.pick((1, 2, 3, 4, 99, 0)),
        "principal_filter": values.pick((None, None, "User:ann", "ann")),
        "host_filter": values.pick((None, None, "*", "")),
        "operation": values.pick((1, 1, 3, 99, 0)),
        "permission_type": values.pick((1, 1, 3, 99, 0)),
    }


# Structs whose fields go together, by qualified name.
OF_STRUCT: dict[str, Callable[[Values], dict[str, Any]]] = {
    "BrokerRegistrationRequest": registration,
    "BrokerHeartbeatRequest": heartbeat,
    "ControllerRegistrationRequest": lambda _values: endpoints_and_features(ControllerRegistrationRequest),
    "AlterPartitionRequest": Values.broker_and_epoch,
    "AlterPartitionRequest.TopicData.PartitionData": partition_change,
    "AlterPartitionRequest.TopicData.PartitionData.BrokerState": Values.broker_and_epoch,
    "AssignReplicasToDirsRequest": Values.broker_and_epoch,
    "AllocateProducerIdsRequest": Values.broker_and_epoch,
    "CreateTopicsRequest.CreatableTopic": new_topic,
    "DeleteTopicsRequest.DeleteTopicState": deleted,
    "AlterConfigsRequest.AlterConfigsResource": lambda values: altered(AlterConfigsRequest, values),
    "IncrementalAlterConfigsRequest.AlterConfigsResource": lambda values: altered(
        IncrementalAlterConfigsRequest, values
    ),
    "DescribeConfigsRequest.DescribeConfigsResource": described,
    "UpdateFeaturesRequest.FeatureUpdateKey": feature_update,
    "AlterClientQuotasRequest.EntryData.EntityData": quota_entity,
    "AlterClientQuotasRequest.EntryData.OpData": quota_op,
    "CreateAclsRequest.AclCreation": acl,
    "DeleteAclsRequest.DeleteAclsFilter": acl_filter,
    "DescribeAclsRequest": acl_filter,
}
POOLS: dict[tuple[str, str], Any] = {
    ("", "timeout_ms"): timeout,
    ("", "validate_only"): (False, False, False, True),
    ("", "cluster_id"): cluster_id,
    ("", "broker_id"): Values.broker,
    ("", "broker_ids"): Values.broker,
    ("", "replicas"): Values.broker,
    ("", "new_isr"): Values.broker,
    ("", "partition"): small,
    ("", "partition_index"): small,
    ("", "partition_indexes"): small,
    ("", "partitions"): small,
    ("", "topic"): Values.topic,
    ("", "topic_names"): Values.topic,
    ("", "topic_name"): quorum_topic,
    ("", "topic_id"): Values.topic_id,
    ("", "epoch"): EPOCHS,
    ("", "leader_epoch"): EPOCHS,
    ("", "current_leader_epoch"): EPOCHS,
    ("", "last_fetched_epoch"): EPOCHS,
    ("", "replica_epoch"): EPOCHS,
    ("", "last_offset_epoch"): EPOCHS,
    ("", "voter_id"): quorum_node,
    ("", "leader_id"): quorum_node,
    ("", "replica_id"): quorum_node,
    ("", "candidate_id"): quorum_node,
    ("", "voter_directory_id"): (bytes(16),),
    ("", "replica_directory_id"): (bytes(16), bytes(16), b"0123456789abcdef"),
    ("", "candidate_directory_id"): (bytes(16),),
    ("", "preferred_successors"): quorum_node,
    ("", "last_offset"): (0, 1, 5, 1 << 40, -1),
    ("", "port"): (9092, 0, 65535),
    ("", "security_protocol"): (0, 0, 1, 2, 3, 4, 7, -1),
    ("", "election_type"): (0, 0, 1, 1, 2, -1),
    ("", "mechanism"): (1, 2, 3, 0),
    ("", "iterations"): (4096, 8192, 4095, 16384, 16385),
    ("", "principal_type"): ("User", "User", "Group", ""),
    ("", "principal_name"): ("ann", "bob", ""),
    ("", "id"): lambda values: directory(values.pick(BROKERS), values.pick((0, 1))),
    ("", "offline_log_dirs"): lambda values: directory(values.pick(BROKERS), values.pick((0, 1))),
    ("", "cordoned_log_dirs"): lambda values: directory(values.pick(BROKERS), values.pick((0, 1))),
    ("", "endpoint_type"): (1, 2, 2, 0, 3),
    ("FetchRequest", "replica_id"): (-1, -1, -1, -2),
    ("FetchRequest", "replica_epoch"): (-1,),
    ("FetchRequest", "max_wait_ms"): (0, 0, 1, 5),
    ("FetchRequest", "min_bytes"): (0, 1),
    ("FetchRequest", "max_bytes"): (1 << 20, 0, 100),
    ("FetchRequest", "partition_max_bytes"): (1 << 20, 0, 100),
    ("FetchRequest", "isolation_level"): (0, 1),
    ("FetchRequest", "session_id"): (0, 0, 5),
    ("FetchRequest", "session_epoch"): (-1, -1, 0, 2),
    ("FetchRequest", "topic"): quorum_topic,
    ("FetchRequest", "topic_id"): lambda values: METADATA_LOG_ID if values.chance(0.9) else values.topic_id(),
    ("FetchRequest", "fetch_offset"): (0, 0, 1, 5, 10, 1 << 40, -1),
    ("FetchRequest", "log_start_offset"): (-1, 0),
    ("FetchRequest", "high_watermark"): (-1, 0, 3, (1 << 63) - 1),
    ("FetchRequest", "rack_id"): ("",),
    ("FetchSnapshotRequest", "name"): quorum_topic,
    ("FetchSnapshotRequest", "replica_id"): (-1, 1, 2),
    ("FetchSnapshotRequest", "max_bytes"): (1 << 20, 100),
    ("FetchSnapshotRequest", "end_offset"): (0, 5, 10),
    ("FetchSnapshotRequest", "position"): (0, 0, 5, 1 << 40),
    ("AlterPartitionReassignmentsRequest", "name"): Values.topic,
    ("ListPartitionReassignmentsRequest", "name"): Values.topic,
    ("CreatePartitionsRequest", "name"): Values.topic,
    ("CreatePartitionsRequest", "count"): (1, 2, 3, 3, 4, 0, -1, 10001),
    ("ControllerRegistrationRequest", "controller_id"): (2, 3, 4),  # a node whose own is replaced registers again
    ("ControllerRegistrationRequest", "incarnation_id"): (b"0123456789abcdef",),
    ("ApiVersionsRequest", "client_software_name"): ("kafka", "a.b-c", "", "-a", "a b", "ä", "x" * 300, "a-"),
    ("ApiVersionsRequest", "client_software_version"): ("1", "4.3.1", "", ".", "1 ", "\0"),
    ("UnregisterBrokerRequest", "broker_id"): lambda values: (
        values.broker() if values.chance(0.3) else values.pick(BAD_BROKERS)
    ),
}
