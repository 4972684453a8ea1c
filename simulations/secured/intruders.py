"""Rogue clients: those that are not authenticated, or that lack the rights for their requests.

A manner is what a client does on its connection. Some requests would do harm if a node served them: a Vote with a very
high epoch, an ACL that allows everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS
from raft.network.mechanisms import PlainClient
from records.codec import encode
from records.data import DefaultPrincipalData
from records.messages.acls import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
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
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest
from records.schema import schema_of
from simulations.secured.people import (
    ADMIN,
    ALICE,
    BARRED,
    BOB,
    MALLORY,
    MEMBER,
    NOBODYS_ISSUER,
    PASSWORDS,
    PLAIN,
    ROGUE_USERS,
)
from simulations.secured.rights import (
    ALL,
    ALLOW,
    ALTER,
    ALTER_CONFIGS,
    ANY,
    CLUSTER,
    CLUSTER_NAME,
    CREATE,
    DELETE,
    DENY,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    LITERAL,
    PREFIXED,
    READ,
    TOPIC,
)
from simulations.secured.tls import Certificate, hello
from simulations.sockets.rogue_clients import framed, request_bytes
from simulations.sockets.rogue_envelopes import principal
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.secured.people import Identities
    from simulations.sockets.rogue_clients import Visit

    Manner = Callable[[Visit], None]

CLUSTER_ID = "somewhere"
FAR_EPOCH = 1_000_000
SECOND_MS = 1000
# Only rogue clients use these topics.
TOPICS = ("a", "alice", "alice-1", "alicia", "bob")
HOSTS = (ANY, "10.0.3.134", "10.0.3.135", "10.9.9.9")
TOKEN_VERSION, HANDSHAKE_VERSION = 2, 1


def identities(visit: Visit) -> Identities:
    """Of the world."""
    found: Identities = visit.rogue.network.identities  # type: ignore[attr-defined]
    return found


def ask(request: Any, number: int = 1) -> bytes:
    """A request in the newest version."""
    api = APIS[schema_of(type(request)).api_key or 0]
    return framed(request_bytes(request, api.versions[1], number))


def pick(rng: Random, items: Any) -> Any:
    return items[int(rng.random() * len(items))]


# Requests


def _vote(_rng: Random) -> Any:
    topic = VoteRequest.TopicData(
        topic_name="__cluster_metadata",
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
        topic_name="__cluster_metadata",
        partitions=(
            BeginQuorumEpochRequest.TopicData.PartitionData(partition_index=0, leader_id=2, leader_epoch=FAR_EPOCH),
        ),
    )
    return BeginQuorumEpochRequest(cluster_id=None, topics=(topic,))


def _describe_quorum(_rng: Random) -> Any:
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    return DescribeQuorumRequest(
        topics=(DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,)),)
    )


def _create(rng: Random) -> Any:
    wanted = CreateTopicsRequest.CreatableTopic
    names = dict.fromkeys((pick(rng, TOPICS), pick(rng, TOPICS)))
    topics = tuple(
        wanted(name=name, num_partitions=1, replication_factor=1, assignments=(), configs=()) for name in names
    )
    return CreateTopicsRequest(topics=topics, timeout_ms=SECOND_MS)


def _delete(rng: Random) -> Any:
    topic = DeleteTopicsRequest.DeleteTopicState(name=pick(rng, TOPICS), topic_id=bytes(16))
    return DeleteTopicsRequest(topics=(topic,), timeout_ms=SECOND_MS)


def _grow(rng: Random) -> Any:
    topic = CreatePartitionsRequest.CreatePartitionsTopic(name=pick(rng, TOPICS), count=2, assignments=None)
    return CreatePartitionsRequest(topics=(topic,), timeout_ms=SECOND_MS, validate_only=False)


def _configure(rng: Random) -> Any:
    wanted = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = wanted.AlterableConfig(name="retention.ms", config_operation=0, value=str(between(rng, 1, 9)))
    resource = wanted(resource_type=TOPIC, resource_name=pick(rng, TOPICS), configs=(config,))
    return IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)


def _describe_configs(rng: Random) -> Any:
    wanted = DescribeConfigsRequest.DescribeConfigsResource
    return DescribeConfigsRequest(
        resources=(wanted(resource_type=TOPIC, resource_name=pick(rng, TOPICS), configuration_keys=None),)
    )


def _allow_all(_rng: Random) -> Any:
    return _acl(CLUSTER, CLUSTER_NAME, LITERAL, f"User:{MALLORY}", ANY, ALL, ALLOW)


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
    _vote, _begin, _describe_quorum, _create, _delete, _grow, _configure, _describe_configs, _allow_all, _describe_acls,
    _update_features, _heartbeat,
    lambda _rng: UnregisterBrokerRequest(broker_id=102),
    lambda _rng: AllocateProducerIdsRequest(broker_id=101, broker_epoch=1),
    lambda _rng: DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2),
    lambda _rng: ListPartitionReassignmentsRequest(topics=None, timeout_ms=SECOND_MS),
    lambda _rng: ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=SECOND_MS),
    lambda _rng: AlterPartitionReassignmentsRequest(topics=(), timeout_ms=SECOND_MS),
)  # fmt: skip
# Requests for which ACLs of the world may exist.
OF_TOPICS = (_create, _create, _create, _delete, _grow, _configure, _describe_configs, _describe_quorum, _describe_acls)


FORWARDED = (
    _create, _delete, _grow, _configure, _describe_quorum,
    lambda _rng: AllocateProducerIdsRequest(broker_id=101, broker_epoch=1),
)  # fmt: skip


def _envelope(rng: Random) -> Any:
    """An envelope in the name of an administrator, which only a broker may send."""
    inner = pick(rng, (_allow_all, _create, _update_features))(rng)
    api = APIS[schema_of(type(inner)).api_key or 0]
    return EnvelopeRequest(
        request_data=request_bytes(inner, api.versions[1], 5), request_principal=principal(ADMIN),
        client_host_address=bytes((10, 0, 0, 9)),
    )  # fmt: skip


def _forwarded(rng: Random, number: int) -> Any:
    """A request of a rogue client that a broker forwards."""
    inner = pick(rng, (*FORWARDED, _allow_all, _update_features))(rng)
    api = APIS[schema_of(type(inner)).api_key or 0]
    return EnvelopeRequest(
        request_data=request_bytes(inner, api.versions[1], number), request_principal=_named(pick(rng, ROGUE_USERS)),
        client_host_address=bytes((10, 0, 3, pick(rng, (134, 135)))),
    )  # fmt: skip


def _named(name: str) -> bytes:
    return bytes(2) + encode(DefaultPrincipalData(type="User", name=name, token_authenticated=False), 0)


def _acl(kind: int, name: str, pattern: int, principal: str, host: str, operation: int, permission: int) -> Any:
    creation = CreateAclsRequest.AclCreation(
        resource_type=kind, resource_name=name, resource_pattern_type=pattern, principal=principal, host=host,
        operation=operation, permission_type=permission,
    )  # fmt: skip
    return CreateAclsRequest(creations=(creation,))


# Manners


def _greet(visit: Visit, certificate: Certificate | None) -> None:
    if identities(visit).has_tls:
        visit.write(hello(certificate))


def _sasl(name: str, password: str | None = None, number: int = 1) -> bytes:
    """The two requests that authenticate a user with PLAIN."""
    token = PlainClient(name, PASSWORDS.get(name, "") if password is None else password).first()
    return framed(request_bytes(SaslHandshakeRequest(mechanism=PLAIN), HANDSHAKE_VERSION, number)) + framed(
        request_bytes(SaslAuthenticateRequest(auth_bytes=token), TOKEN_VERSION, number + 1)
    )


def log_in(visit: Visit, name: str) -> None:
    """Authenticate as a user."""
    _greet(visit, identities(visit).certificate(name))
    if identities(visit).has_sasl:
        visit.write(_sasl(name))


def _ask_some(visit: Visit, questions: Any, count: int, first: int = 10) -> None:
    for number in range(count):
        visit.write(ask(pick(visit.rng, questions)(visit.rng), first + number))


def knock(visit: Visit) -> None:
    """Requests without authentication."""
    _greet(visit, None)
    _ask_some(visit, QUESTIONS, 6)


def foreign(visit: Visit) -> None:
    """A certificate that is not trusted or not allowed, or a wrong password; then requests."""
    certificate = pick(visit.rng, (Certificate(ADMIN, NOBODYS_ISSUER), identities(visit).certificate(BARRED)))
    _greet(visit, certificate if visit.rng.random() < 0.7 else None)
    if identities(visit).has_sasl:
        visit.write(_sasl(pick(visit.rng, (ADMIN, "nobody", ALICE)), pick(visit.rng, ("wrong", ""))))
    _ask_some(visit, QUESTIONS, 4)


def disorder(visit: Visit) -> None:
    """SASL requests in random order, and other requests between them."""
    _greet(visit, identities(visit).certificate(pick(visit.rng, ROGUE_USERS)))
    rng = visit.rng
    known = PlainClient(ALICE, PASSWORDS[ALICE]).first()
    for number in range(6):
        request, version = pick(
            rng,
            (
                (SaslHandshakeRequest(mechanism=PLAIN), HANDSHAKE_VERSION),
                (SaslHandshakeRequest(mechanism="SCRAM-SHA-512"), HANDSHAKE_VERSION),
                (SaslAuthenticateRequest(auth_bytes=known), TOKEN_VERSION),
                (SaslAuthenticateRequest(auth_bytes=known[:-1]), TOKEN_VERSION),
                (ApiVersionsRequest(client_software_name="stranger", client_software_version="0"), 3),
                (pick(rng, QUESTIONS)(rng), None),
            ),
        )
        if version is None:
            visit.write(ask(request, number))
        else:
            visit.write(framed(request_bytes(request, version, number)))


def rightless(visit: Visit) -> None:
    """An authenticated user without any right."""
    log_in(visit, MALLORY)
    if identities(visit).is_open:  # without an ACL on the cluster it would be allowed to vote
        _ask_some(visit, OF_TOPICS, 8)
        return
    _ask_some(visit, QUESTIONS, 8)
    visit.write(ask(_envelope(visit.rng), 90))


def limited(visit: Visit) -> None:
    """A user with the rights that the present ACLs give."""
    log_in(visit, pick(visit.rng, (ALICE, BOB)))
    _ask_some(visit, OF_TOPICS, 8)


def spoofer(visit: Visit) -> None:
    """A user without CLUSTER_ACTION sends envelopes in the name of an administrator."""
    log_in(visit, pick(visit.rng, ROGUE_USERS))
    for number in range(0 if identities(visit).is_open else 3):
        visit.write(ask(_envelope(visit.rng), number))


def broker(visit: Visit) -> None:
    """A broker forwards requests of rogue clients."""
    log_in(visit, MEMBER)
    for number in range(6):
        if not identities(visit).is_open:
            visit.write(ask(_forwarded(visit.rng, number), number))


def grant(visit: Visit) -> None:
    """An administrator changes ACLs."""
    rng = visit.rng
    log_in(visit, ADMIN)
    for number in range(10, 10 + between(rng, 2, 6)):
        if rng.random() < 0.2:
            visit.write(ask(_remove(rng), number))
            continue
        if rng.random() < 0.2:
            visit.write(_contradicting(rng, number))
            continue
        if rng.random() < 0.15:
            kind, name, pattern, operation = CLUSTER, CLUSTER_NAME, LITERAL, pick(rng, (CREATE, DESCRIBE))
        else:
            kind, pattern = TOPIC, pick(rng, (LITERAL, LITERAL, PREFIXED))
            name = pick(rng, (*TOPICS, ANY) if pattern == LITERAL else TOPICS)
            operation = pick(rng, _OPERATIONS)
        principal = pick(rng, (f"User:{ALICE}", f"User:{ALICE}", f"User:{BOB}", "User:*"))
        permission = DENY if rng.random() < 0.3 else ALLOW
        visit.write(ask(_acl(kind, name, pattern, principal, pick(rng, HOSTS), operation, permission), number))


_OPERATIONS = (ALL, READ, CREATE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS)


def _contradicting(rng: Random, number: int) -> bytes:
    """Deny an operation and allow one that it would imply."""
    denied, allowed = pick(rng, ((DELETE, DESCRIBE), (ALTER, DESCRIBE), (ALTER_CONFIGS, DESCRIBE_CONFIGS)))
    name = pick(rng, TOPICS)
    both = ((denied, DENY), (allowed, ALLOW))
    found = [_acl(TOPIC, name, LITERAL, f"User:{ALICE}", ANY, operation, permission) for operation, permission in both]
    return b"".join(ask(each, number) for each in found)


def _remove(rng: Random) -> Any:
    wanted = DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=TOPIC, resource_name_filter=pick(rng, (None, *TOPICS)), pattern_type_filter=1,
        principal_filter=pick(rng, (None, f"User:{ALICE}")), host_filter=None, operation=1,
        permission_type=pick(rng, (1, DENY)),
    )  # fmt: skip
    return DeleteAclsRequest(filters=(wanted,))


def again(visit: Visit) -> None:
    """Authenticate again, sometimes as another user, and continue with requests."""
    log_in(visit, ALICE)
    _ask_some(visit, OF_TOPICS, 2)
    if identities(visit).has_sasl:
        name = pick(visit.rng, (ALICE, ADMIN))
        visit.later(100, visit.write, _sasl(name, number=30))
        visit.later(200, _ask_some, visit, OF_TOPICS, 3, 40)


def overstay(visit: Visit) -> None:
    """Requests until long after the session has ended."""
    log_in(visit, ALICE)
    for number in range(25):
        visit.later(120 * number, _ask_some, visit, OF_TOPICS[:3], 1, 10 + number)


def stall(visit: Visit) -> None:
    """A handshake or an authentication that does not end."""
    world = identities(visit)
    if world.has_tls and (not world.has_sasl or visit.rng.random() < 0.5):
        data = hello(world.certificate(ADMIN))
        for place in range(between(visit.rng, 1, 12)):
            visit.later(place * 1000, visit.write, data[place : place + 1])
    else:
        _greet(visit, world.certificate(ADMIN))
        visit.write(_sasl(ADMIN)[: between(visit.rng, 5, 40)])


def swell(visit: Visit) -> None:
    """A hello or a token that is far too large."""
    size = pick(visit.rng, (60_000, 1 << 20))
    if identities(visit).has_tls:
        visit.write(b"\x16" + size.to_bytes(4, "big") + bytes(min(size, 200_000)))
    else:
        token = PlainClient(ADMIN, "x" * size).first()
        visit.write(framed(request_bytes(SaslHandshakeRequest(mechanism=PLAIN), HANDSHAKE_VERSION, 1)))
        visit.write(framed(request_bytes(SaslAuthenticateRequest(auth_bytes=token), TOKEN_VERSION, 2)))


def plain(visit: Visit) -> None:
    """Requests in plain text, without TLS or SASL."""
    _ask_some(visit, QUESTIONS, 3)


MANNERS: dict[str, Manner] = {
    "knock": knock, "foreign": foreign, "disorder": disorder, "rightless": rightless, "limited": limited,
    "spoofer": spoofer, "broker": broker, "grant": grant, "again": again, "overstay": overstay, "stall": stall,
    "swell": swell, "plain": plain,
}  # fmt: skip
# How often each comes.
WEIGHTS = (
    "knock", "foreign", "foreign", "disorder", "disorder", "rightless", "rightless", "limited", "limited", "limited",
    "limited", "spoofer", "broker", "broker", "grant", "grant", "grant", "grant", "again", "again", "overstay",
    "overstay", "stall", "stall", "swell", "plain",
)  # fmt: skip
