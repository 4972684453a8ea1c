"""Requests that need to be allowed: a stock controller and one of ours answer them alike.

Both have StandardAuthorizer; every client (User:ANONYMOUS, the listener being PLAINTEXT) is a super user, and sends
requests of others in envelopes, as brokers do. What is random or of the moment (ids, secrets, times) is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from controller.core.apis import APIS, Kind, served_versions
from records.codec import decode_prefix, encode
from records.data import DefaultPrincipalData
from records.features.levels import RELEASES
from records.headers import RequestHeader, ResponseHeader, request_header_version, response_header_version
from records.messages.acls import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
from records.messages.configs import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
)
from records.messages.envelope import EnvelopeRequest
from records.messages.quotas import AlterClientQuotasRequest
from records.messages.scram import AlterUserScramCredentialsRequest, DescribeUserScramCredentialsRequest
from records.messages.tokens import (
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.registry import response_class
from records.schema import Message, default_of, schema_of
from tests.interop.ask import ask
from tests.interop.cluster import OURS, STOCK, Cluster, cluster, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.stock import Stock

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:root",
    "delegation.token.secret.key": "a key",
}
# Fields whose values are random or of the moment.
UNEQUAL = {
    "topic_id", "token_id", "hmac", "issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms", "throttle_time_ms",
}  # fmt: skip


class Pair(NamedTuple):
    """Ports."""

    stock: int
    ours: int


@pytest.fixture(scope="module", params=[True, False], ids=["with an authorizer", "without"])
def pair(request: Any, tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    root: Path = tmp_path_factory.mktemp("security")
    settings = SETTINGS if request.param else {}
    for name in (STOCK, OURS):
        (root / name).mkdir()
    with (
        cluster(root / STOCK, stock, [STOCK], 0, settings=settings) as theirs,
        cluster(root / OURS, stock, [OURS], 0, settings=settings) as ours,
    ):
        ports = Pair(theirs.controllers[1].port, ours.controllers[1].port)
        # An active controller answers UNKNOWN_SERVER_ERROR until its authorizer has read the ACLs.
        eventually(lambda: all(knows_acls(port) for port in ports), "the ACLs")
        yield ports


def knows_acls(port: int) -> bool:
    user, refused = STEPS[0]
    results: Any = getattr(forwarded(port, refused, 3, user), "results", ())
    return bool(results) and results[0].error_code != -1


def forwarded(port: int, request: Any, version: int, user: str) -> Any:
    """The answer to a request of a user that a broker sent on."""
    key = schema_of(type(request)).api_key
    assert key is not None
    header = RequestHeader(request_api_key=key, request_api_version=version, correlation_id=5, client_id="test")
    data = encode(header, request_header_version(type(request), version)) + encode(request, version)
    principal = DefaultPrincipalData(type="User", name=user, token_authenticated=False)
    envelope = EnvelopeRequest(
        request_data=data, request_principal=b"\0\0" + encode(principal, 0), client_host_address=b"\x0a\0\0\7"
    )
    answer = ask(port, envelope, 0, 20)
    if answer.error_code:
        return answer
    response = response_class(key)
    _, position = decode_prefix(ResponseHeader, response_header_version(response, version), answer.response_data, 0)
    return decode_prefix(response, version, answer.response_data, position)[0]


def plain(value: Any) -> Any:
    """Without what cannot be equal; lists in an order of their own. Texts that name a connection by their end."""
    if isinstance(value, Message):
        fields = {f.name: plain(getattr(value, f.name)) for f in value.__schema__.fields if f.name not in UNEQUAL}
        fields["times"] = [getattr(value, name, 0) > 0 for name in sorted(UNEQUAL) if name.endswith("_ms")]
        return fields
    if isinstance(value, tuple):
        return sorted((plain(each) for each in value), key=repr)
    if isinstance(value, str) and value.startswith("Request Request("):
        return value.rpartition(" needs ")[2]
    return int(value) if isinstance(value, int) else value


def acl(name: str = "t", **fields: Any) -> CreateAclsRequest.AclCreation:
    given = {
        "resource_type": 2, "resource_name": name, "resource_pattern_type": 3, "principal": "User:ann", "host": "*",
        "operation": 3, "permission_type": 3, **fields,
    }  # fmt: skip
    return CreateAclsRequest.AclCreation(**given)


def acls(*given: Any) -> CreateAclsRequest:
    return CreateAclsRequest(creations=given)


def chosen(cls: Any, **fields: Any) -> Any:
    given = {
        "resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1, "principal_filter": None,
        "host_filter": None, "operation": 1, "permission_type": 1, **fields,
    }  # fmt: skip
    return cls(**given)


def deletion(*filters: dict[str, Any]) -> DeleteAclsRequest:
    return DeleteAclsRequest(filters=tuple(chosen(DeleteAclsRequest.DeleteAclsFilter, **each) for each in filters))


def quota(parts: dict[str, str | None], *ops: tuple[str, float | None]) -> Any:
    item = AlterClientQuotasRequest.EntryData
    return item(
        entity=tuple(item.EntityData(entity_type=type_, entity_name=name) for type_, name in parts.items()),
        ops=tuple(item.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops),
    )


def quotas(*entries: Any) -> AlterClientQuotasRequest:
    return AlterClientQuotasRequest(entries=entries, validate_only=False)


def credentials(upsertions: tuple[Any, ...] = (), deletions: tuple[tuple[str, int], ...] = ()) -> Any:
    cls = AlterUserScramCredentialsRequest
    return cls(
        deletions=tuple(cls.ScramCredentialDeletion(name=name, mechanism=mechanism) for name, mechanism in deletions),
        upsertions=tuple(
            cls.ScramCredentialUpsertion(
                name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=password
            )
            for name, mechanism, iterations, password in upsertions
        ),
    )


def token(*renewers: tuple[str, str], owner: str | None = None, lifetime_ms: int = -1) -> Any:
    item = CreateDelegationTokenRequest.CreatableRenewers
    return CreateDelegationTokenRequest(
        owner_principal_type=None if owner is None else "User",
        owner_principal_name=owner,
        renewers=tuple(item(principal_type=kind, principal_name=name) for kind, name in renewers),
        max_lifetime_ms=lifetime_ms,
    )


def topics(*names: str) -> CreateTopicsRequest:
    item = CreateTopicsRequest.CreatableTopic
    made = tuple(item(name=n, num_partitions=1, replication_factor=1, assignments=(), configs=()) for n in names)
    return CreateTopicsRequest(topics=made, timeout_ms=5000, validate_only=False)


def altered(cls: Any, *resources: tuple[int, str]) -> Any:
    item = cls.AlterConfigsResource
    made = tuple(item(resource_type=kind, resource_name=name, configs=()) for kind, name in resources)
    return cls(resources=made, validate_only=False)


def deleted_topics(*names: str) -> DeleteTopicsRequest:
    state = DeleteTopicsRequest.DeleteTopicState
    return DeleteTopicsRequest(topics=tuple(state(name=name, topic_id=bytes(16)) for name in names), timeout_ms=5000)


def described(*resources: tuple[int, str]) -> DescribeConfigsRequest:
    item = DescribeConfigsRequest.DescribeConfigsResource
    made = tuple(item(resource_type=k, resource_name=n, configuration_keys=("cleanup.policy",)) for k, n in resources)
    return DescribeConfigsRequest(resources=made, include_synonyms=False, include_documentation=False)


RESOURCES = ((2, "t"), (2, "u"), (4, ""), (16, "m"), (32, "g"))
partition_item = CreatePartitionsRequest.CreatePartitionsTopic

# In this order: user, whether in an envelope, request. ROOT is a super user, ANN has what the ACLs give her.
ROOT, ANN, BOB = "root", "ann", "bob"
STEPS: list[tuple[str, Any]] = [
    (BOB, acls(acl())),
    (ROOT, acls(acl(), acl(), acl(""), acl("c", resource_type=4), acl("kafka-cluster", resource_type=4, operation=8))),
    (ROOT, acls(acl(operation=1), acl(operation=99), acl(permission_type=1), acl(resource_type=1))),
    (ROOT, acls(acl(resource_type=99))),
    (ROOT, acls(acl(resource_pattern_type=2), acl(resource_pattern_type=99), acl(principal="ann"))),
    (ROOT, acls(acl(permission_type=9))),
    (ROOT, acls(acl("t", operation=5), acl("t", operation=6), acl("t", operation=11))),
    (ROOT, acls(acl("pre", resource_pattern_type=4), acl("g", resource_type=3, operation=11))),
    (ROOT, acls(acl("*", principal="User:*", permission_type=2, host="10.0.0.8"))),
    (BOB, topics("t", "u", "u", "__cluster_metadata")),
    (ANN, topics("t", "u")),
    (ROOT, topics("t")),
    (ANN, deleted_topics("t", "u", "v")),
    (BOB, deleted_topics("t", "u", "u")),
    (ANN, CreatePartitionsRequest(
        topics=tuple(partition_item(name=n, count=3, assignments=None) for n in ("t", "u", "v", "v")),
        timeout_ms=5000, validate_only=False)),
    (ANN, altered(IncrementalAlterConfigsRequest, *RESOURCES, (8, "1"), (99, "x"))),
    (BOB, altered(AlterConfigsRequest, *RESOURCES, (2, "t"))),
    (BOB, quotas(quota({"user": "a"}, ("request_percentage", 1.0)))),
    (ROOT, quotas(
        quota({"user": "a", "client-id": "c"}, ("request_percentage", 1.5), ("producer_byte_rate", 10.0)),
        quota({"user": None}, ("producer_byte_rate", 1.5)), quota({}, ("producer_byte_rate", 1.0)),
        quota({"users": "a"}, ("producer_byte_rate", 1.0)), quota({"user": ""}, ("producer_byte_rate", 1.0)),
        quota({"ip": "10.0.0.1"}, ("connection_creation_rate", 5.0)), quota({"ip": None}, ("rate", 1.0)),
        quota({"ip": "h h"}, ("connection_creation_rate", 5.0)), quota({"ip": "a", "user": "b"}, ("x", 1.0)),
        quota({"client-id": "d"}, ("producer_byte_rate", -1.0)),
        quota({"client-id": "e"}, ("producer_byte_rate", 1e19)),
        quota({"ip": "10.0.0.2"}, ("connection_creation_rate", 3e9)), quota({"client-id": "f"}, ("x", None)),
        quota({"user": "a", "client-id": "c"}, ("request_percentage", 3.0)),
        quota({"user": "b"}, ("request_percentage", 1.0), ("request_percentage", 2.0)))),
    (ROOT, quotas(quota({"user": "a", "client-id": "c"}, ("request_percentage", None), ("consumer_byte_rate", None)))),
    (BOB, credentials((("x", 1, 4096, b"p"),), (("y", 1),))),
    (ROOT, credentials(
        (("x", 1, 4096, b"p"), ("y", 2, 16384, b"p"), ("", 1, 4096, b"p"), ("u", 3, 4096, b"p"), ("v", 1, 4095, b"p"),
         ("w", 1, 16385, b"p"), ("z", 1, 4096, b""), ("k", 1, 4096, b"p"), ("k", 2, 4096, b"p")),
        (("y", 1), ("d", 1), ("e", 9)))),
    (ROOT, credentials((("x", 1, 8192, b"p"),), (("x", 1),))),
    (ROOT, credentials((), (("x", 1), ("y", 2)))),
    (ROOT, credentials()),
    (ANN, token(("User", "bob"))),
    (ANN, token(("Group", "bob"))),
    (ANN, token(owner="cat")),
    (ROOT, token(owner="cat", lifetime_ms=1000)),
    (ANN, RenewDelegationTokenRequest(hmac=b"none", renew_period_ms=-1)),
    (ANN, ExpireDelegationTokenRequest(hmac=b"none", expiry_time_period_ms=-1)),
    (BOB, deletion({})),
    (ROOT, deletion({"resource_name_filter": "t", "pattern_type_filter": 2}, {"operation": 99})),
    (ROOT, deletion({"pattern_type_filter": 9})),
    (ROOT, deletion({}, {})),
]  # fmt: skip


def test_requests_in_envelopes_are_answered_alike(pair: Pair) -> None:
    differences = []
    for number, (user, request) in enumerate(STEPS):
        key = schema_of(type(request)).api_key
        assert key is not None
        version = APIS[key].versions[1]
        theirs, ours = (plain(forwarded(port, request, version, user)) for port in pair)
        if theirs != ours:
            differences.append((number, type(request).__name__, user, theirs, ours))

    assert differences == [], "\n".join(map(str, differences[:9]))


def test_requests_of_a_super_user_are_answered_alike(pair: Pair) -> None:
    requests = [
        acls(acl("t"), acl("t", operation=4), acl("p", resource_pattern_type=4)),
        chosen(DescribeAclsRequest),
        chosen(DescribeAclsRequest, resource_name_filter="pq", pattern_type_filter=2),
        chosen(DescribeAclsRequest, operation=99),
        described(*RESOURCES),
        token(("User", "bob")),
        RenewDelegationTokenRequest(hmac=b"none", renew_period_ms=-1),
        ExpireDelegationTokenRequest(hmac=b"none", expiry_time_period_ms=-1),
        DescribeDelegationTokenRequest(owners=None),
        DescribeUserScramCredentialsRequest(users=(DescribeUserScramCredentialsRequest.UserName(name="a"),)),
        deletion({}),
    ]
    differences = []
    for request in requests:
        key = schema_of(type(request)).api_key
        assert key is not None
        for version in range(APIS[key].versions[0], APIS[key].versions[1] + 1):
            if version < 3 and isinstance(request, CreateDelegationTokenRequest):
                request = default_of(CreateDelegationTokenRequest)
            theirs, ours = (plain(ask(port, request, version, 20)) for port in pair)
            if theirs != ours:
                differences.append((type(request).__name__, version, theirs, ours))

    assert differences == [], "\n".join(map(str, differences[:9]))


def await_refusal(port: int) -> None:
    """Wait until requests are refused, which is when the ACLs are loaded."""
    eventually(lambda: ask(port, chosen(DescribeAclsRequest), 3).error_code == 31, "a refusal")


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Pair]:
    """Controllers where no client has a permission."""
    root: Path = tmp_path_factory.mktemp("strict")
    settings = {**SETTINGS, "super.users": "User:root"}
    found = []
    for kind in (STOCK, OURS):
        (root / kind).mkdir()
        made = Cluster(root / kind, stock, settings=settings)
        made.plan([kind], 0)
        made.format()
        made.start()
        found.append(made)
    try:
        for made in found:
            await_refusal(made.controllers[1].port)
        yield Pair(*(made.controllers[1].port for made in found))
    finally:
        for made in found:
            made.end()


def test_a_sender_without_permissions_is_refused_by_every_api_as_by_stock(strict: Pair, stock: Stock) -> None:
    differences = []
    valid = {29: chosen(DescribeAclsRequest), 30: acls(acl(), acl("u")), 31: deletion({}, {})}
    for key, (least, greatest) in served_versions(RELEASES[stock.release]).items():
        api = APIS[key]
        if api.kind is Kind.LOCAL:
            continue
        for version in range(least, greatest + 1):
            # Stock closes the connection of a request with the code 0 for UNKNOWN.
            request = valid.get(key, default_of(api.request))
            theirs, ours = (plain(ask(port, request, version, 20)) for port in strict)
            if theirs != ours:
                differences.append((api.request.__name__, version, theirs, ours))

    assert differences == [], "\n".join(map(str, differences[:9]))
