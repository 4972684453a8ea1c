"""What a request needs for each resource, and answers that do not follow from it."""

from __future__ import annotations

import hmac
from types import SimpleNamespace
from typing import Any

import pytest

from controller.interface.inputs import Principal
from records.errors import Error
from records.messages.configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse
from records.messages.tokens import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from records.messages.topics import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from records.metadata.security import DelegationTokenRecord
from records.schema import default_of, replace
from simulations.cluster.metadata.image import Image
from simulations.secured.needs import TOKEN_KEY
from simulations.secured.people import ADMIN, ALICE
from simulations.secured.rights import (
    ALLOW,
    ALTER_CONFIGS,
    ANY,
    CREATE,
    CREATE_TOKENS,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    GROUP,
    LITERAL,
    TOPIC,
    USER,
    Rule,
)
from simulations.secured.rules import AuthorizationChecks, serves_member
from simulations.world.violation import Violation

NODE = SimpleNamespace(
    node=SimpleNamespace(id=1),
    life=1,
    controller=SimpleNamespace(state=SimpleNamespace(stable_end_offset=10, loading=None)),
)
SENDER = Principal("User", ALICE)
NONE, DENIED = Error.NONE, Error.TOPIC_AUTHORIZATION_FAILED
TOKEN_DENIED, MISMATCH = Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED, Error.DELEGATION_TOKEN_OWNER_MISMATCH


class Present:
    """The ACLs of a log that does not change."""

    def __init__(self, *rules: tuple[int, str, int]) -> None:
        self._rules = [
            Rule(kind, name, LITERAL, f"User:{ALICE}", ANY, operation, ALLOW) for kind, name, operation in rules
        ]

    def at(self, _end_offset: int) -> list[Rule]:
        return self._rules

    def has_changed_between(self, _begin: int, _end: int) -> bool:
        return False


def refusal(
    request: Any,
    response: Any,
    *rules: tuple[int, str, int],
    principal: Principal = SENDER,
    image: Image | None = None,
) -> str:
    """What is wrong with an answer of a node; empty for nothing."""
    checks = AuthorizationChecks(Present(*rules), image or Image(), by_default=False)  # type: ignore[arg-type]
    checks.on_taken(NODE, 5, principal, "10.0.0.1", 0, request)
    try:
        checks.replies(NODE, 5, response)
    except Violation as violation:
        return violation.property_id
    return ""


def create(*codes: int, hidden: int = 0) -> tuple[Any, Any]:
    made = CreateTopicsRequest.CreatableTopic
    topics = tuple(
        made(name=f"t{place}", num_partitions=1, replication_factor=1, assignments=(), configs=())
        for place in range(len(codes))
    )
    result = default_of(CreateTopicsResponse.CreatableTopicResult)
    results = tuple(
        replace(result, name=f"t{place}", error_code=int(code), topic_config_error_code=int(hidden))
        for place, code in enumerate(codes)
    )
    return CreateTopicsRequest(topics=topics, timeout_ms=1), CreateTopicsResponse(throttle_time_ms=0, topics=results)


def delete(code: int) -> tuple[Any, Any]:
    topic = DeleteTopicsRequest.DeleteTopicState(name="t", topic_id=bytes(16))
    result = replace(default_of(DeleteTopicsResponse.DeletableTopicResult), name="t", error_code=int(code))
    return DeleteTopicsRequest(topics=(topic,), timeout_ms=1), DeleteTopicsResponse(
        throttle_time_ms=0, responses=(result,)
    )


def configure(topic: int, group: int) -> tuple[Any, Any]:
    wanted = IncrementalAlterConfigsRequest.AlterConfigsResource
    result = default_of(IncrementalAlterConfigsResponse.AlterConfigsResourceResponse)
    pairs = ((TOPIC, topic), (32, group))
    return (
        IncrementalAlterConfigsRequest(
            resources=tuple(wanted(resource_type=kind, resource_name="a", configs=()) for kind, _ in pairs),
            validate_only=False,
        ),
        IncrementalAlterConfigsResponse(
            throttle_time_ms=0,
            responses=tuple(
                replace(result, resource_type=kind, resource_name="a", error_code=int(code)) for kind, code in pairs
            ),
        ),
    )


def get_token(kind: str, name: str, code: int) -> tuple[Any, Any]:
    request = CreateDelegationTokenRequest(
        owner_principal_type=kind, owner_principal_name=name, renewers=(), max_lifetime_ms=-1
    )
    return request, replace(default_of(CreateDelegationTokenResponse), error_code=int(code))


@pytest.mark.parametrize(
    ("asked", "rules", "wrong"),
    [
        (create(DENIED), [], ""),
        (create(NONE), [], "W10"),
        (create(DENIED), [(TOPIC, "t0", CREATE)], "W10"),
        (create(NONE, DENIED, hidden=DENIED), [(TOPIC, "t0", CREATE)], ""),
        (create(NONE, NONE, hidden=DENIED), [(TOPIC, "t0", CREATE)], "W10"),
        (create(NONE), [(TOPIC, "t0", CREATE)], "W10"),  # the configs are shown
        (create(NONE, hidden=DENIED), [(TOPIC, "t0", CREATE), (TOPIC, "t0", DESCRIBE_CONFIGS)], "W10"),
        (create(Error.NOT_CONTROLLER), [], ""),
        (delete(Error.UNKNOWN_TOPIC_OR_PARTITION), [(TOPIC, "t", DESCRIBE)], ""),
        (delete(Error.UNKNOWN_TOPIC_OR_PARTITION), [], "W10"),
        (delete(NONE), [(TOPIC, "t", DESCRIBE)], "W10"),
        (configure(NONE, NONE), [(TOPIC, "a", ALTER_CONFIGS)], "W10"),
        (configure(NONE, Error.GROUP_AUTHORIZATION_FAILED), [(TOPIC, "a", ALTER_CONFIGS)], ""),
        (configure(DENIED, NONE), [(GROUP, "a", ALTER_CONFIGS)], ""),
        (configure(DENIED, DENIED), [], "W10"),  # of a group it is another error
        (get_token("User", ALICE, NONE), [], ""),
        (get_token("Group", ALICE, NONE), [], "W10"),
        (get_token("Group", ALICE, TOKEN_DENIED), [], ""),
        (get_token("Group", ALICE, TOKEN_DENIED), [(USER, f"Group:{ALICE}", CREATE_TOKENS)], "W10"),
        (get_token("User", ALICE, TOKEN_DENIED), [], "W10"),
    ],
)  # fmt: skip
def test_each_resource_is_refused_exactly_where_the_sender_lacks_the_right(
    asked: tuple[Any, Any], rules: list[tuple[int, str, int]], wrong: str
) -> None:
    assert refusal(*asked, *rules) == wrong


@pytest.mark.parametrize(
    ("principal", "code", "wrong"),
    [
        (Principal("User", ALICE), NONE, ""),
        (Principal("User", ALICE), MISMATCH, "W10"),
        (Principal("Group", ALICE), NONE, "W10"),
        (Principal("Group", ALICE), MISMATCH, ""),
        (Principal("User", "bob"), NONE, ""),
    ],
)
def test_a_token_is_changed_by_its_owner_and_its_renewers_alone(principal: Principal, code: int, wrong: str) -> None:
    image = Image()
    token = replace(default_of(DelegationTokenRecord), token_id="t", owner=f"User:{ALICE}", renewers=("User:bob",))
    image.apply(token)
    secret = hmac.digest(TOKEN_KEY.encode(), b"t", "sha512")
    request = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=-1)
    response = replace(default_of(ExpireDelegationTokenResponse), error_code=int(code))

    assert refusal(request, response, principal=principal, image=image) == wrong


def test_a_super_user_is_refused_no_right_and_one_of_another_type_is_none() -> None:
    with pytest.raises(Violation, match="W10"):
        serves_member(NODE, create(DENIED)[1])
    assert refusal(*create(NONE), principal=Principal("Group", ADMIN)) == "W10"
