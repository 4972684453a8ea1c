"""CreateAcls, DescribeAcls and DeleteAcls: AclControlManagerTest's cases, and AclApis' own."""

from __future__ import annotations

from typing import Any

import pytest

from controller.handlers.security.acls import unreadable
from controller.interface.access import Access
from controller.rules.authorizer import StandardAuthorizer
from controller.state.tables.acl import Acl
from records.errors import Error
from records.features.levels import KAFKA_4_3, KAFKA_4_4
from records.messages.acls import (
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from tests.controller.rig import Rig

TOPIC, GROUP, CLUSTER, LITERAL, PREFIXED, READ, WRITE, DENY, ALLOW = 2, 3, 4, 3, 4, 3, 4, 2, 3
ANY, MATCH = 1, 2
Created = CreateAclsResponse.AclCreationResult
NO_COLON = (
    "Could not parse principal from `ann` (no colon is present separating the principal type from the principal name)"
)


def secured(**options: Any) -> Rig:
    """A controller whose every request comes from a super user."""
    return Rig(access=Access(StandardAuthorizer({"User:ANONYMOUS"})), **options)


def creation(name: str = "orders", **fields: Any) -> CreateAclsRequest.AclCreation:
    given = {
        "resource_type": TOPIC,
        "resource_name": name,
        "resource_pattern_type": LITERAL,
        "principal": "User:ann",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
        **fields,
    }
    return CreateAclsRequest.AclCreation(**given)


def create(rig: Rig, *creations: CreateAclsRequest.AclCreation) -> Any:
    return rig.ask(CreateAclsRequest(creations=creations))


def wanted(**fields: Any) -> dict[str, Any]:
    return {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
        **fields,
    }


def delete(rig: Rig, *filters: dict[str, Any]) -> Any:
    return rig.ask(DeleteAclsRequest(filters=tuple(DeleteAclsRequest.DeleteAclsFilter(**each) for each in filters)))


def described(rig: Rig, **fields: Any) -> list[tuple[str, int]]:
    answer = rig.ask(DescribeAclsRequest(**wanted(**fields)))
    assert (answer.error_code, answer.error_message) == (0, "")
    return sorted((each.resource_name, each.pattern_type) for each in answer.resources)


def test_acls_are_created_in_one_batch_and_each_once() -> None:
    rig = secured().lead()
    create(rig, creation("there"))
    start = rig.end_offset

    answer = create(rig, creation(), creation("there"), creation("", host="h"), creation(), creation("payments"))

    ok = Created(error_code=0, error_message="")
    assert answer.results == (
        ok, ok, Created(error_code=Error.INVALID_REQUEST, error_message="Invalid empty resource name"), ok, ok,
    )  # fmt: skip
    written = [record for record, version in rig.records(start) if version == 0]
    assert [(type(each), each.resource_name) for each in written] == [
        (AccessControlEntryRecord, "orders"), (AccessControlEntryRecord, "payments"),
    ]  # fmt: skip
    assert len({each.id for each in written}) == 2


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"resource_type": CLUSTER}, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ({"resource_type": 99}, "Invalid resourceType UNKNOWN"),
        ({"resource_pattern_type": 99}, "Invalid patternType UNKNOWN"),
        ({"operation": 99}, "Invalid operation UNKNOWN"),
        (
            {"principal": "ann"},
            NO_COLON,
        ),
    ],
)
def test_an_invalid_acl_is_refused_on_its_own(fields: dict[str, Any], text: str) -> None:
    rig = secured().lead()

    answer = create(rig, creation(**fields), creation("good"))

    assert [(each.error_code, each.error_message) for each in answer.results] == [
        (Error.INVALID_REQUEST, text),
        (0, ""),
    ]
    assert [acl.resource_name for acl in rig.state.acls.values()] == ["good"]


@pytest.mark.parametrize("field", ["resource_type", "resource_pattern_type", "operation", "permission_type"])
def test_a_code_for_filters_only_fails_the_whole_request(field: str) -> None:
    rig = secured().lead()

    answer = create(rig, creation(), creation(**{field: ANY}))

    assert [each.error_code for each in answer.results] == [Error.UNKNOWN_SERVER_ERROR] * 2
    assert len(rig.state.acls) == 0


def test_more_than_10_000_acls_are_not_created_at_once() -> None:
    rig = secured().lead()

    answer = create(rig, *(creation(f"t{number}") for number in range(10_001)))

    assert {each.error_code for each in answer.results} == {Error.POLICY_VIOLATION}
    assert (len(answer.results), len(rig.state.acls)) == (10_001, 0)


def test_acls_are_described_by_their_patterns() -> None:
    rig = secured().lead()
    create(rig, creation(), creation(operation=4), creation("or", resource_pattern_type=PREFIXED, host="h"))

    answer = rig.ask(DescribeAclsRequest(**wanted()))

    resource = DescribeAclsResponse.DescribeAclsResource
    acl = resource.AclDescription
    assert answer.resources == (
        resource(
            resource_type=TOPIC,
            resource_name="orders",
            pattern_type=LITERAL,
            acls=tuple(acl(principal="User:ann", host="*", operation=op, permission_type=ALLOW) for op in (READ, 4)),
        ),
        resource(
            resource_type=TOPIC,
            resource_name="or",
            pattern_type=PREFIXED,
            acls=(acl(principal="User:ann", host="h", operation=READ, permission_type=ALLOW),),
        ),
    )


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ["*", "ord", "orders", "orders"]),
        ({"resource_type_filter": GROUP}, []),
        ({"resource_name_filter": "orders"}, ["orders", "orders"]),
        ({"resource_name_filter": "orders", "pattern_type_filter": LITERAL}, ["orders"]),
        ({"resource_name_filter": "orders", "pattern_type_filter": PREFIXED}, ["orders"]),
        ({"resource_name_filter": "ordersX", "pattern_type_filter": MATCH}, ["*", "ord", "orders"]),
        ({"resource_name_filter": "orders", "pattern_type_filter": MATCH}, ["*", "ord", "orders", "orders"]),
        ({"pattern_type_filter": MATCH}, ["*", "ord", "orders", "orders"]),
        ({"pattern_type_filter": 99}, []),
        ({"principal_filter": "User:bob"}, ["ord"]),
        ({"host_filter": "h"}, ["*"]),
        ({"host_filter": "*"}, ["ord", "orders", "orders"]),
        ({"operation": 4}, ["*"]),
        ({"permission_type": DENY}, ["ord"]),
    ],
)
def test_a_filter_selects_acls(fields: dict[str, Any], names: list[str]) -> None:
    rig = secured().lead()
    create(
        rig,
        creation(),
        creation("orders", resource_pattern_type=PREFIXED),
        creation("ord", resource_pattern_type=PREFIXED, principal="User:bob", permission_type=DENY),
        creation("*", host="h", operation=4),
    )

    assert [name for name, _ in described(rig, **fields)] == names
    matching = delete(rig, wanted(**fields)).filter_results[0].matching_acls
    if fields.get("pattern_type_filter") != 99:
        assert sorted(acl.resource_name for acl in matching) == names


def test_an_acl_that_two_filters_match_is_removed_once_and_returned_twice() -> None:
    rig = secured().lead()
    create(rig, creation(), creation("payments"))
    start = rig.end_offset

    answer = delete(
        rig, wanted(resource_name_filter="orders"), wanted(), wanted(operation=99), wanted(resource_type_filter=99)
    )

    assert [(each.error_code, each.error_message, len(each.matching_acls)) for each in answer.filter_results] == [
        (0, None, 1),
        (0, None, 2),
        (Error.INVALID_REQUEST, "Unknown entryFilter.", 0),
        (Error.INVALID_REQUEST, "Unknown patternFilter.", 0),
    ]
    assert [type(record) for record, _ in rig.records(start)] == [RemoveAccessControlEntryRecord] * 2
    assert len(rig.state.acls) == 0


def test_each_of_several_filters_selects_as_it_would_alone() -> None:
    rig = secured().lead()
    create(rig, creation("*"), creation("ord", resource_pattern_type=PREFIXED), creation("other"))
    by_match = wanted(resource_name_filter="orders", pattern_type_filter=MATCH)

    answer = delete(rig, by_match, wanted(resource_name_filter="other"), wanted(resource_name_filter="or"))

    found = [[acl.resource_name for acl in result.matching_acls] for result in answer.filter_results]
    assert found == [["*", "ord"], ["other"], []]
    assert not rig.state.acls


def test_more_than_10_000_acls_are_not_removed_at_once() -> None:
    rig = secured().lead()
    for part in range(2):
        create(rig, *(creation(f"t{part}-{number}") for number in range(5_001)))

    answer = delete(rig, wanted())

    assert [(each.error_code, each.error_message) for each in answer.filter_results] == [
        (Error.INVALID_REQUEST, "Cannot remove more than 10000 acls in a single delete operation.")
    ]
    assert len(rig.state.acls) == 10_002


def test_the_limit_of_a_removal_is_that_of_all_its_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.handlers.security.acls.USER_RECORDS_MAX", 3)
    rig = secured().lead()
    create(rig, creation("a"), creation("a", operation=WRITE), creation("b"), creation("b", operation=WRITE))

    refused = delete(rig, wanted(resource_name_filter="a"), wanted(resource_name_filter="b"))
    removed = delete(rig, wanted(resource_name_filter="a"), wanted(resource_name_filter="b", operation=READ))

    assert [(each.error_code, each.error_message) for each in refused.filter_results] == [
        (Error.INVALID_REQUEST, "Cannot remove more than 3 acls in a single delete operation.")
    ] * 2
    assert [len(each.matching_acls) for each in removed.filter_results] == [2, 1]
    assert [(acl.resource_name, acl.operation) for acl in rig.state.acls.values()] == [("b", WRITE)]


def test_an_uncommitted_acl_counts_as_existing() -> None:
    rig = secured().lead()
    rig.auto = False
    first, second = (
        rig.send(CreateAclsRequest(creations=(creation(),))),
        rig.send(CreateAclsRequest(creations=(creation(),))),
    )

    assert (first in rig.replies, second in rig.replies) == (False, False)
    rig.commit()
    assert [rig.replies[number].results[0].error_code for number in (first, second)] == [0, 0]
    assert list(rig.state.acls.values()) == [Acl(TOPIC, "orders", LITERAL, "User:ann", "*", READ, ALLOW)]


@pytest.mark.parametrize("leads", [True, False])
def test_without_an_authorizer_every_controller_says_so(leads: bool) -> None:
    rig = Rig()
    if leads:
        rig.lead()

    created = create(rig, creation(), creation())
    deleted = delete(rig, wanted())
    asked = rig.ask(DescribeAclsRequest(**wanted()))

    text = "No Authorizer is configured."
    assert [(each.error_code, each.error_message) for each in created.results] == [(Error.SECURITY_DISABLED, text)] * 2
    assert [(each.error_code, each.error_message) for each in deleted.filter_results] == [
        (Error.SECURITY_DISABLED, text)
    ]
    assert (asked.error_code, asked.error_message) == (
        Error.SECURITY_DISABLED, "No Authorizer is configured on the broker",
    )  # fmt: skip


def test_a_standby_describes_acls_and_changes_none() -> None:
    rig = secured().lead()
    create(rig, creation())
    rig.follow()

    answer = create(rig, creation("payments"))

    assert [each.error_code for each in answer.results] == [Error.NOT_CONTROLLER]
    assert described(rig) == [("orders", LITERAL)]


@pytest.mark.parametrize("field", ["operation", "permission_type", "resource_type", "resource_pattern_type"])
def test_stock_reads_no_acl_with_the_code_0(field: str) -> None:
    request = CreateAclsRequest(creations=(creation(), creation(**{field: 0})))

    assert unreadable(request) == f"CreateAclsRequest has the code 0, for UNKNOWN, in {field}"
    assert unreadable(CreateAclsRequest(creations=(creation(**{field: 100}),))) is None


@pytest.mark.parametrize("field", ["operation", "permission_type", "resource_type_filter", "pattern_type_filter"])
def test_stock_reads_no_filter_with_the_code_0(field: str) -> None:
    one = DeleteAclsRequest.DeleteAclsFilter

    assert unreadable(DeleteAclsRequest(filters=(one(**wanted()), one(**wanted(**{field: 0}))))) is not None
    assert unreadable(DescribeAclsRequest(**wanted(**{field: 0}))) is not None
    assert unreadable(DeleteAclsRequest(filters=(one(**wanted()),))) is None
    assert unreadable(DescribeAclsRequest(**wanted())) is None
    assert unreadable(DeleteAclsRequest(filters=())) is None


SLASHED = "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."


# Answers of Kafka 4.4.0.
@pytest.mark.parametrize(
    ("host", "error", "text"),
    [
        ("10.0.0.0/8", Error.NONE, ""),
        ("2001:db8::/32", Error.NONE, ""),
        ("host", Error.NONE, ""),
        ("*", Error.NONE, ""),
        ("", Error.INVALID_REQUEST, "Host pattern cannot be null or empty"),
        (
            "10.0.0.0/33",
            Error.INVALID_REQUEST,
            "Invalid CIDR notation '10.0.0.0/33': Value [33] not in range [0,32]",
        ),
        ("a/b/c", Error.INVALID_REQUEST, "Invalid CIDR notation 'a/b/c': Could not parse [a/b/c]"),
    ],
)
def test_4_4_checks_hosts_and_takes_cidr_notation_from_4_4_iv1_on(host: str, error: Error, text: str) -> None:
    rig = secured(metadata_version=32, release=KAFKA_4_4).lead()

    response = create(rig, creation(host=host))

    assert response.results == (Created(error_code=error, error_message=text),)


def test_below_4_4_iv1_a_node_of_4_4_refuses_every_slash_in_a_host() -> None:
    rig = secured(metadata_version=31, release=KAFKA_4_4).lead()

    response = create(rig, creation(host="10.0.0.0/8"), creation(host="a/b"), creation(host="10.0.0.1"))

    refused = Created(error_code=Error.UNSUPPORTED_VERSION, error_message=SLASHED)
    assert response.results == (refused, refused, Created(error_code=Error.NONE, error_message=""))


def test_a_host_is_any_text_on_a_node_of_4_3() -> None:
    rig = secured(metadata_version=30, release=KAFKA_4_3).lead()

    response = create(rig, *(creation(host=host) for host in ("", "10.0.0.0/8", "a/b")))

    assert {result.error_code for result in response.results} == {Error.NONE}
