"""Calls about delegation tokens: create, renew, expire, describe (KIP-48, KIP-373)."""

from __future__ import annotations

from typing import NamedTuple

from records.messages.tokens import (
    CreateDelegationTokenRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from tools.client.admin import ANY_OR_ACTIVE, Call
from tools.client.exceptions import KafkaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tools.client.admin import Admin

    Principal = tuple[str, str]


class Token(NamedTuple):
    """A delegation token; hmac is its secret. Times are in ms since 1970."""

    id: str
    hmac: bytes
    owner: Principal
    requester: Principal
    renewers: tuple[Principal, ...]
    issued_ms: int
    expires_ms: int
    max_ms: int


def create_token(admin: Admin, owner: Principal | None, renewers: Sequence[Principal], lifetime_ms: int) -> Token:
    """owner: None for the caller. lifetime_ms: -1 for the longest. Raises Uncaught."""
    renewer = CreateDelegationTokenRequest.CreatableRenewers
    kind, name = owner or ("", "")
    request = CreateDelegationTokenRequest(
        owner_principal_type=kind,
        owner_principal_name=name,
        renewers=tuple(renewer(principal_type=kind, principal_name=name) for kind, name in renewers),
        max_lifetime_ms=lifetime_ms,
    )
    response = _call(admin, "createDelegationToken", request)
    return Token(
        response.token_id,
        bytes(response.hmac),
        (response.principal_type, response.principal_name),
        (response.token_requester_principal_type, response.token_requester_principal_name),
        tuple(renewers),
        response.issue_timestamp_ms,
        response.expiry_timestamp_ms,
        response.max_timestamp_ms,
    )


def renew_token(admin: Admin, hmac: bytes, period_ms: int) -> int:
    """When the token expires then. period_ms: -1 for the default. Raises Uncaught."""
    request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms)
    return int(_call(admin, "renewDelegationToken", request).expiry_timestamp_ms)


def expire_token(admin: Admin, hmac: bytes, period_ms: int) -> int:
    """When the token expires then. period_ms: negative for at once. Raises Uncaught."""
    request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms)
    return int(_call(admin, "expireDelegationToken", request).expiry_timestamp_ms)


def describe_tokens(admin: Admin, owners: Sequence[Principal]) -> list[Token]:
    """owners: of the tokens; none for all that the caller may see. Raises Uncaught."""
    owner = DescribeDelegationTokenRequest.DescribeDelegationTokenOwner
    listed = tuple(owner(principal_type=kind, principal_name=name) for kind, name in owners)
    response = _call(admin, "describeDelegationToken", DescribeDelegationTokenRequest(owners=listed))
    return [
        Token(
            token.token_id,
            bytes(token.hmac),
            (token.principal_type, token.principal_name),
            (token.token_requester_principal_type, token.token_requester_principal_name),
            tuple((renewer.principal_type, renewer.principal_name) for renewer in token.renewers),
            token.issue_timestamp,
            token.expiry_timestamp,
            token.max_timestamp,
        )
        for token in response.tokens
    ]


def _call(admin: Admin, name: str, request: Any) -> Any:
    def outcome(response: Any) -> Any:
        if response.error_code:
            raise KafkaError(response.error_code)
        return response

    return admin.result(Call(name, lambda _: request, outcome, ANY_OR_ACTIVE))
