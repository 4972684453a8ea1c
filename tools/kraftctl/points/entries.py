"""The entries of a metadata image as plain values, without secrets: what `at`, `diff`, `history` and `watch` show."""

from __future__ import annotations

from typing import NamedTuple

from records.hidden_text import HIDDEN
from records.uuids import uuid_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from controller.state.partitions.partition import Partition
    from controller.state.tables.acl import Acl
    from controller.state.tables.brokers import Broker, Endpoint, VersionRange
    from controller.state.tables.controllers import Controller
    from controller.state.tables.producer_ids import ProducerIds
    from controller.state.tables.scram import ScramCredential
    from controller.state.tables.tokens import DelegationToken
    from tools.offline.image import Topic

    Fields = dict[str, Any]


TOPIC, PARTITION, CONFIG, BROKER, CONTROLLER, FEATURE, VOTER, LEADER, QUOTA, ACL, SCRAM, TOKEN, PRODUCER_IDS = KINDS = (
    "topic", "partition", "config", "broker", "controller", "feature", "voter", "leader", "quota", "acl", "scram",
    "token", "producer-ids",
)  # fmt: skip
CONFIG_TYPES = {2: "topic", 4: "broker", 8: "broker-logger", 16: "client-metrics", 32: "group"}
_BROKER_CONFIG = 4


class Secret:
    """A value that is compared but never shown."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return HIDDEN


class Entry(NamedTuple):
    """One thing of the metadata. kind: of KINDS. topic_id: of a topic or partition, else empty.

    fields: values of JSON, and `Secret`.
    """

    kind: str
    name: str
    topic_id: str
    fields: Fields


class Table(NamedTuple):
    """Values of one kind by key: a topic by its name, its partitions by their numbers, or a table of the image.

    topic, topic_id: of a topic and its partitions, else empty.
    """

    kind: str
    topic: str
    topic_id: str
    values: Mapping[Any, Any]

    @property
    def identity(self) -> tuple[str, str, str]:
        """The same before and after a change; a topic that was deleted and created anew has another."""
        return (self.kind, self.topic, self.topic_id)

    def name_of(self, key: Any) -> str:
        """The name of the entry with this key."""
        return f"{self.topic}-{key}" if self.kind == PARTITION else name_of(self.kind, key)


def key_order(key: Any) -> Any:
    """What the keys of one table are sorted by."""
    return key if isinstance(key, int | str | bytes) else repr(key)


def fields_of(kind: str, key: Any, value: Any) -> Fields:
    """The fields of a value of a table. key: of the table."""
    return _FIELDS[kind](key, value)


def name_of(kind: str, key: Any) -> str:
    """The name of an entry by its key in the table; not of a topic or partition, whose name is no part of the key."""
    if kind == CONFIG:
        return f"{CONFIG_TYPES.get(key[0], key[0])}:{key[1] or 'default'}"
    if kind == QUOTA:
        return ",".join(f"{part}={'default' if name is None else name}" for part, name in key)
    if kind == ACL:
        return uuid_text(key)
    if kind == SCRAM:
        return f"{key[0]}:{_mechanism(key[1])}"
    return str(key)


def is_secret(resource_type: int, key: str) -> bool:
    """Whether DescribeConfigs hides the value of a config: passwords, and keys of brokers that are unknown."""
    if resource_type != _BROKER_CONFIG:
        return False
    from controller.config.dynamic import node_type
    from controller.config.values.definition import Type

    return node_type(key) in (None, Type.PASSWORD)


def _topic(_key: bytes, _topic: Topic) -> Fields:
    return {}  # its name and id are those of the entry


def _partition(_key: Any, partition: Partition) -> Fields:
    return {
        "leader": partition.leader,
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
        "elr": list(partition.elr),
        "last_known_elr": list(partition.last_known_elr),
        "adding": list(partition.adding),
        "removing": list(partition.removing),
        "directories": [uuid_text(each) for each in partition.directories],
        "recovering": bool(partition.recovery_state),
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
    }


def _config(key: tuple[int, str], values: dict[str, str]) -> Fields:
    return {name: Secret(value) if is_secret(key[0], name) else value for name, value in sorted(values.items())}


def _broker(_key: Any, broker: Broker) -> Fields:
    return {
        "epoch": broker.epoch,
        "incarnation_id": uuid_text(broker.incarnation_id),
        "listeners": {name: _endpoint(each) for name, each in sorted(broker.listeners.items())},
        "features": {name: _range(each) for name, each in sorted(broker.features.items())},
        "rack": broker.rack,
        "fenced": broker.fenced,
        "in_controlled_shutdown": broker.in_controlled_shutdown,
        "directories": [uuid_text(each) for each in broker.directories],
        "cordoned": None if broker.cordoned is None else [uuid_text(each) for each in broker.cordoned],
    }


def _controller(_key: Any, controller: Controller) -> Fields:
    return {
        "incarnation_id": uuid_text(controller.incarnation_id),
        "listeners": {name: _endpoint(each) for name, each in sorted(controller.listeners.items())},
        "features": {name: _range(each) for name, each in sorted(controller.features.items())},
    }


def _endpoint(endpoint: Endpoint) -> str:
    from controller.state.tables.brokers import SECURITY_PROTOCOLS

    return f"{SECURITY_PROTOCOLS[endpoint.security_protocol]}://{endpoint.host}:{endpoint.port}"


def _range(levels: VersionRange) -> str:
    return f"{levels.min}-{levels.max}"


def _feature(key: str, level: int) -> Fields:
    from records.features.levels import METADATA_VERSION, known_metadata_version

    return {"level": level, "name": known_metadata_version(level).name} if key == METADATA_VERSION else {"level": level}


def _quota(_key: Any, values: dict[str, float]) -> Fields:
    return dict(sorted(values.items()))


def _acl(_key: Any, acl: Acl) -> Fields:
    from controller.state.tables.acl import AclOperation, AclResourceType, PatternType, Permission

    def name_of_code(codes: Any, code: int) -> str:
        return str(codes(code).name) if code in codes.__members__.values() else str(code)

    return {
        "principal": acl.principal,
        "host": acl.host,
        "permission": name_of_code(Permission, acl.permission_type),
        "operation": name_of_code(AclOperation, acl.operation),
        "resource_type": name_of_code(AclResourceType, acl.resource_type),
        "pattern_type": name_of_code(PatternType, acl.pattern_type),
        "resource_name": acl.resource_name,
    }


def _scram(_key: Any, credential: ScramCredential) -> Fields:
    secret = (credential.salt, credential.stored_key, credential.server_key)
    return {"iterations": credential.iterations, "credential": Secret(secret)}


def _mechanism(number: int) -> str:
    return {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}.get(number, str(number))


def _token(_key: Any, token: DelegationToken) -> Fields:
    return {
        "owner": token.owner,
        "requester": token.requester,
        "renewers": list(token.renewers),
        "issued_ms": token.issue_timestamp,
        "max_ms": token.max_timestamp,
        "expires_ms": token.expiration_timestamp,
    }


def _producer_ids(_key: Any, ids: ProducerIds) -> Fields:
    return {"next_id": ids.next_id}  # a checkpoint does not have the broker that got the last block


def _as_is(_key: Any, fields: Fields) -> Fields:
    return fields


_FIELDS: dict[str, Callable[[Any, Any], Fields]] = {
    TOPIC: _topic,
    PARTITION: _partition,
    CONFIG: _config,
    BROKER: _broker,
    CONTROLLER: _controller,
    FEATURE: _feature,
    VOTER: _as_is,
    LEADER: _as_is,
    QUOTA: _quota,
    ACL: _acl,
    SCRAM: _scram,
    TOKEN: _token,
    PRODUCER_IDS: _producer_ids,
}
