"""What the sender of a request needs for each resource that it names, and for each delegation token: the reference of
`ControllerApis` (KIP-11, KIP-48, KIP-133, KIP-195, KIP-373, KIP-525). It shares no code with the product.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any, NamedTuple

from records.errors import Error
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from simulations.secured.rights import (
    ALTER,
    ALTER_CONFIGS,
    CLUSTER,
    CLUSTER_NAME,
    CREATE,
    CREATE_TOKENS,
    DELETE,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    GROUP,
    GROUP_CONFIG,
    TOPIC,
    USER,
    Question,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from controller.interface.inputs import Principal

TOKEN_KEY = "key of the tokens"  # noqa: S105 - of simulated worlds
# Errors that say nothing of rights: another node is active, this one has not loaded the ACLs, or nobody may do it.
UNDECIDED = frozenset((
    Error.NOT_CONTROLLER, Error.REQUEST_TIMED_OUT, Error.NOT_LEADER_OR_FOLLOWER, Error.UNKNOWN_SERVER_ERROR,
    Error.TOPIC_DELETION_DISABLED,
))  # fmt: skip
# The errors by which a request is refused because its sender lacks a right.
DENIALS = frozenset((
    Error.TOPIC_AUTHORIZATION_FAILED, Error.GROUP_AUTHORIZATION_FAILED, Error.CLUSTER_AUTHORIZATION_FAILED,
    Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED, Error.DELEGATION_TOKEN_OWNER_MISMATCH,
))  # fmt: skip


class Need(NamedTuple):
    """One way of `ways` is enough, where each of its questions is answered by yes. denial: the error otherwise. sees:
    a sender that has this right may learn first that there is no such resource.
    """

    ways: tuple[tuple[Question, ...], ...]
    denial: int
    sees: Question | None = None


Needs = dict[Any, Need]
Sender = tuple[str, str]
"""Principal and host."""


def _of_topics(sender: Sender, names: Iterator[str], operation: int, *, of_all: bool) -> Needs:
    """of_all: whether the operation on the cluster is enough."""
    by_cluster = ((Question(*sender, operation, CLUSTER, CLUSTER_NAME),),) if of_all else ()
    return {
        name: Need((*by_cluster, (Question(*sender, operation, TOPIC, name),)), Error.TOPIC_AUTHORIZATION_FAILED)
        for name in names
    }


def _to_create(sender: Sender, request: Any) -> Needs:
    return _of_topics(sender, (topic.name for topic in request.topics), CREATE, of_all=True)


def _to_grow(sender: Sender, request: Any) -> Needs:
    return _of_topics(sender, (topic.name for topic in request.topics), ALTER, of_all=False)


def _to_delete(sender: Sender, request: Any) -> Needs:
    """A sender that may describe a topic, and may not delete it, learns first whether there is one of that name."""
    needs = {}
    for name in [*request.topic_names, *(topic.name for topic in request.topics if topic.name is not None)]:
        by_name = tuple(Question(*sender, operation, TOPIC, name) for operation in (DESCRIBE, DELETE))
        ways = (Question(*sender, DELETE, CLUSTER, CLUSTER_NAME),), by_name
        needs[name] = Need(ways, Error.TOPIC_AUTHORIZATION_FAILED, by_name[0])
    return needs


def _to_configure(sender: Sender, request: Any) -> Needs:
    is_read = isinstance(request, DescribeConfigsRequest)
    operation = DESCRIBE_CONFIGS if is_read else ALTER_CONFIGS
    needs = {}
    for each in request.resources:
        of = each.resource_type, each.resource_name
        kind, name, denial = CLUSTER, CLUSTER_NAME, Error.CLUSTER_AUTHORIZATION_FAILED
        if each.resource_type == TOPIC:
            kind, name, denial = TOPIC, each.resource_name, Error.TOPIC_AUTHORIZATION_FAILED
        elif each.resource_type == GROUP_CONFIG:
            kind, name, denial = GROUP, each.resource_name, Error.GROUP_AUTHORIZATION_FAILED
        needs[of] = Need(((Question(*sender, operation, kind, name),),), denial)
    return needs


def _to_get_token(sender: Sender, request: Any) -> Needs:
    """A token for oneself needs no right; the owner's type belongs to its name (KIP-373)."""
    owner = sender[0]
    if request.owner_principal_name:
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    way = () if owner == sender[0] else (Question(*sender, CREATE_TOKENS, USER, owner),)
    return {"": Need((way,), Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED)}


NEEDED: dict[type, Callable[[Sender, Any], Needs]] = {
    CreateTopicsRequest: _to_create,
    CreatePartitionsRequest: _to_grow,
    DeleteTopicsRequest: _to_delete,
    IncrementalAlterConfigsRequest: _to_configure,
    AlterConfigsRequest: _to_configure,
    DescribeConfigsRequest: _to_configure,
    CreateDelegationTokenRequest: _to_get_token,
}


def codes_of(request: Any, response: Any) -> dict[Any, int]:
    """The error of each resource in an answer, as `NEEDED` names them."""
    if isinstance(request, (CreateTopicsRequest, CreatePartitionsRequest)):
        results = response.topics if isinstance(request, CreateTopicsRequest) else response.results
        return {each.name: each.error_code for each in results}
    if isinstance(request, DeleteTopicsRequest):
        return {each.name: each.error_code for each in response.responses}
    if isinstance(request, CreateDelegationTokenRequest):
        return {"": response.error_code}
    results = response.results if isinstance(request, DescribeConfigsRequest) else response.responses
    return {(each.resource_type, each.resource_name): each.error_code for each in results}


def hides_configs(sender: Sender, name: str) -> Question:
    """The right without which the answer to CreateTopics has no configs (KIP-525)."""
    return Question(*sender, DESCRIBE_CONFIGS, TOPIC, name)


def wrong_of_token(principal: Principal, request: Any, response: Any, users: Mapping[tuple[Any, ...], Any]) -> str:
    """What is wrong with the answer to a renewal or an expiry; empty for nothing. users: of the committed log."""
    if not isinstance(request, (RenewDelegationTokenRequest, ExpireDelegationTokenRequest)):
        return ""
    for key, token in users.items():
        if key[0] != "token" or hmac.digest(TOKEN_KEY.encode(), key[1].encode(), "sha512") != bytes(request.hmac):
            continue
        may = str(principal) in (token.owner, *token.renewers)
        if response.error_code == Error.NONE and not may:
            return f"{principal} changes the token of {token.owner}, with the renewers {token.renewers}"
        if response.error_code == Error.DELEGATION_TOKEN_OWNER_MISMATCH and may:
            return f"{principal} may not change the token of {token.owner}, with the renewers {token.renewers}"
    return ""
