"""The texts of the tree's leaves: those of Kafka's `toString`, secrets included, as in stock."""

from __future__ import annotations

from controller.state.tables.brokers import SECURITY_PROTOCOLS
from records.java.java_values import java_text
from records.uuids import java_order, uuid_text
from tools.offline.acl_names import OPERATIONS, PATTERNS, PERMISSIONS, TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.state.partitions.partition import Partition
    from controller.state.tables.acl import Acl
    from controller.state.tables.brokers import Broker, Endpoint, VersionRange
    from controller.state.tables.controllers import Controller
    from controller.state.tables.scram import ScramCredential
    from controller.state.tables.tokens import DelegationToken


def name_of(names: tuple[str, ...], code: int) -> str:
    """The name of a code; UNKNOWN if there is none."""
    return names[code] if 0 <= code < len(names) else names[0]


def uuids(values: Iterable[bytes]) -> str:
    return f"[{', '.join(map(uuid_text, values))}]"


def partition_text(partition: Partition) -> str:
    recovery = "RECOVERING" if partition.recovery_state else "RECOVERED"
    return (
        f"PartitionRegistration(replicas={java_text(partition.replicas)}, directories={uuids(partition.directories)}, "
        f"isr={java_text(partition.isr)}, removingReplicas={java_text(partition.removing)}, "
        f"addingReplicas={java_text(partition.adding)}, elr={java_text(partition.elr)}, "
        f"lastKnownElr={java_text(partition.last_known_elr)}, leader={partition.leader}, "
        f"leaderRecoveryState={recovery}, leaderEpoch={partition.leader_epoch}, "
        f"partitionEpoch={partition.partition_epoch})"
    )


def broker_text(broker: Broker) -> str:
    rack = "Optional.empty" if broker.rack is None else f"Optional[{broker.rack}]"
    cordoned = "null" if broker.cordoned is None else uuids(broker.cordoned)
    return (
        f"BrokerRegistration(id={broker.broker_id}, epoch={broker.epoch}, "
        f"incarnationId={uuid_text(broker.incarnation_id)}, listeners={listeners_text(broker.listeners)}, "
        f"supportedFeatures={features_text(broker.features)}, rack={rack}, fenced={java_text(broker.fenced)}, "
        f"inControlledShutdown={java_text(broker.in_controlled_shutdown)}, "
        f"isMigratingZkBroker={java_text(broker.is_migrating_zk_broker)}, "
        f"directories={uuids(sorted(broker.directories, key=java_order))}, cordonedDirectories={cordoned})"
    )


def controller_text(controller: Controller) -> str:
    return (
        f"ControllerRegistration(id={controller.controller_id}, incarnationId={uuid_text(controller.incarnation_id)}, "
        f"zkMigrationReady={java_text(controller.zk_migration_ready)}, "
        f"listeners={listeners_text(controller.listeners)}, supportedFeatures={features_text(controller.features)})"
    )


def listeners_text(listeners: Mapping[str, Endpoint]) -> str:
    parts = []
    for name in sorted(listeners):
        endpoint = listeners[name]
        protocol = SECURITY_PROTOCOLS[endpoint.security_protocol]
        parts.append(
            f"Endpoint(listenerName='{name}', securityProtocol={protocol}, host='{endpoint.host}', "
            f"port={endpoint.port})"
        )
    return f"[{', '.join(parts)}]"


def features_text(features: Mapping[str, VersionRange]) -> str:
    from records.features.levels import range_text

    return "{" + ", ".join(f"{name}: {range_text(features[name])}" for name in sorted(features)) + "}"


def acl_text(acl: Acl) -> str:
    return (
        f"StandardAcl[resourceType={name_of(TYPES, acl.resource_type)}, resourceName={acl.resource_name}, "
        f"patternType={name_of(PATTERNS, acl.pattern_type)}, principal={acl.principal}, host={acl.host}, "
        f"operation={name_of(OPERATIONS, acl.operation)}, permissionType={name_of(PERMISSIONS, acl.permission_type)}]"
    )


def scram_text(credential: ScramCredential) -> str:
    return (
        f"ScramCredentialData(salt={credential.salt.hex()}, storedKey={credential.stored_key.hex()}, "
        f"serverKey={credential.server_key.hex()}, iterations={credential.iterations})"
    )


def token_text(token: DelegationToken) -> str:
    """A delegation token; the brackets are unbalanced, as in stock's text."""
    return (
        f"DelegationTokenDatatokenId={token.token_id}(owner={token.owner}(tokenRequester={token.requester}"
        f"(renewers={' '.join(token.renewers)}, issueTimestamp={token.issue_timestamp}, "
        f"maxTimestamp={token.max_timestamp}), expiryTimestamp={token.expiration_timestamp}"
    )


def instant_text(time_ms: int) -> str:
    """A time in ms since 1970 as `2026-01-02T03:04:05.678Z[UTC]`, without trailing zeros of the fraction."""
    from time import gmtime

    seconds, milliseconds = divmod(time_ms, 1000)
    fraction = f".{milliseconds:03}".rstrip("0") if milliseconds else ""
    at = gmtime(seconds)
    year = f"{at.tm_year:04}" if at.tm_year <= 9999 else f"+{at.tm_year}"
    return f"{year}-{at.tm_mon:02}-{at.tm_mday:02}T{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}{fraction}Z[UTC]"
