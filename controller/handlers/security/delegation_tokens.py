"""Delegation tokens: their creation, renewal and expiry by request, and the removal of expired ones (KIP-48, KIP-900).

A token's secret is the HMAC of its id under `delegation.token.secret.key`; it is never stored.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

from controller.handlers.topics import random_topic_id
from controller.interface.inputs import ANONYMOUS, Principal
from controller.interface.results import Result, at_once
from controller.rules.permissions import allows
from controller.state.tables.acl import AclOperation, AclResourceType
from records.errors import Error
from records.messages.tokens import (
    CreateDelegationTokenResponse,
    ExpireDelegationTokenResponse,
    RenewDelegationTokenResponse,
)
from records.metadata.security import DelegationTokenRecord, RemoveDelegationTokenRecord
from records.uuids import uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.interface.settings import Settings
    from controller.state.state import State
    from controller.state.tables.tokens import DelegationToken
    from records.messages.tokens import (
        CreateDelegationTokenRequest,
        ExpireDelegationTokenRequest,
        RenewDelegationTokenRequest,
    )

    Change = tuple[Error, int, DelegationTokenRecord | RemoveDelegationTokenRecord | None]

# metadata.version 3.6-IV2.
TOKEN_LEVEL = 14
# From this version on a token may be requested for another owner (KIP-373).
REQUESTER_VERSION = 3
SWEPT_MAX = 1000
NO_TIME = -1
_TIME_MAX = 2**63 - 1
_USER = "User"


class Secrets:
    """The HMACs of tokens, each computed once. key: `delegation.token.secret.key`; tokens are off without one."""

    __slots__ = ("_by_hmac", "_hashed", "key")

    def __init__(self, key: str | None) -> None:
        self.key = key
        self._by_hmac: dict[bytes, str] = {}
        self._hashed: set[str] = set()

    def __repr__(self) -> str:
        return "Secrets([hidden])"

    def hmac(self, token_id: str) -> bytes:
        """The secret of a token."""
        assert self.key
        return hmac.digest(self.key.encode(), token_id.encode(), "sha512")

    def token(self, state: State, secret: bytes) -> DelegationToken | None:
        """The token with this secret."""
        if secret not in self._by_hmac:
            if len(self._hashed) > 2 * len(state.tokens) + SWEPT_MAX:
                self._by_hmac, self._hashed = {}, set()
            for token_id in state.tokens:
                if token_id not in self._hashed:
                    self._by_hmac[self.hmac(token_id)] = token_id
                    self._hashed.add(token_id)
        return state.tokens.get(self._by_hmac.get(secret, ""))


def secrets_of(env: Env) -> Secrets:
    if env.token_secrets is None:
        env.token_secrets = Secrets(env.settings.delegation_token_secret_key)
    secrets: Secrets = env.token_secrets
    return secrets


def may_use_tokens(context: RequestContext) -> bool:
    """Whether the sender is authenticated, and not by a token: otherwise one token would suffice to get the next."""
    if context.principal.token:
        return False
    if context.forwarded:
        return True
    is_anonymous = context.principal[:2] == ANONYMOUS[:2]
    return context.security_protocol != "PLAINTEXT" and not (context.security_protocol == "SSL" and is_anonymous)


def owner_of(context: RequestContext, request: CreateDelegationTokenRequest) -> Principal:
    if not request.owner_principal_name:
        return context.principal
    return Principal(request.owner_principal_type or "", request.owner_principal_name)


def create_refusal(
    state: State, context: RequestContext, request: CreateDelegationTokenRequest, env: Env
) -> CreateDelegationTokenResponse | None:
    """The answer to a sender that may not have such a token, which every controller gives; None for others."""
    owner = owner_of(context, request)
    if not may_use_tokens(context):
        code = Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    elif owner[:2] != context.principal[:2] and not allows(
        state, context, env, AclOperation.CREATE_TOKENS, AclResourceType.USER, str(owner)
    ):
        code = Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    else:
        return None
    times = dict.fromkeys(("issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms"), NO_TIME)
    return create_response(context, owner, error_code=code, **times)


def create_response(context: RequestContext, owner: Principal, **fields: Any) -> CreateDelegationTokenResponse:
    values = {
        "error_code": Error.NONE,
        "issue_timestamp_ms": 0,
        "expiry_timestamp_ms": 0,
        "max_timestamp_ms": 0,
        "token_id": "",
        "hmac": b"",
        "throttle_time_ms": 0,
        **fields,
    }
    if context.version >= REQUESTER_VERSION:
        values["token_requester_principal_type"] = context.principal.type
        values["token_requester_principal_name"] = context.principal.name
    return CreateDelegationTokenResponse(principal_type=owner.type, principal_name=owner.name, **values)


def create_token(state: State, context: RequestContext, request: CreateDelegationTokenRequest, env: Env) -> Result:
    """CreateDelegationToken: for the sender, or for another owner where it may create tokens of that user."""
    refusal = create_refusal(state, context, request, env)
    if refusal is not None:
        return at_once(refusal)
    settings, now_ms = env.settings, env.wall_ms
    owner = owner_of(context, request)
    code = wrong_for_tokens(state, env)
    if code is not None:
        return Result(create_response(context, owner, error_code=code), rests_on=state.features.last_change())
    if are_too_many(state, str(owner), settings):
        # Our own: stock has no limit, and each token is in the memory of every node and in each snapshot.
        return Result(
            create_response(context, owner, error_code=Error.POLICY_VIOLATION), rests_on=state.tokens.last_change()
        )
    lifetime_ms = settings.delegation_token_max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_timestamp = min(now_ms + lifetime_ms, _TIME_MAX)
    expiration = min(max_timestamp, now_ms + settings.delegation_token_expiry_time_ms)
    token_id = uuid_text(random_topic_id(env))
    if any(renewer.principal_type != _USER for renewer in request.renewers):
        code = Error.INVALID_PRINCIPAL_TYPE
        return Result(create_response(context, owner, error_code=code), rests_on=state.features.last_change())
    secret = secrets_of(env).hmac(token_id)
    record = DelegationTokenRecord(
        owner=str(owner),
        requester=str(context.principal),
        renewers=tuple(f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers),
        issue_timestamp=now_ms,
        max_timestamp=max_timestamp,
        expiration_timestamp=expiration,
        token_id=token_id,
    )
    response = create_response(
        context,
        owner,
        issue_timestamp_ms=now_ms,
        expiry_timestamp_ms=expiration,
        max_timestamp_ms=max_timestamp,
        token_id=token_id,
        hmac=secret,
    )
    return Result(response, [(record, 0)])


def are_too_many(state: State, owner: str, settings: Settings) -> bool:
    """Whether one more token of an owner (`Type:Name`) would be above a limit."""
    count = len(state.tokens)
    if count >= settings.delegation_tokens_max:
        return True
    most = settings.delegation_tokens_owner_max
    return count >= most and sum(token.owner == owner for token in state.tokens.values()) >= most


def renew_refusal(
    _state: State, context: RequestContext, _request: Any, _env: Env
) -> RenewDelegationTokenResponse | None:
    """The answer to a sender that may not use tokens; None for others."""
    return None if may_use_tokens(context) else renew_response(Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, NO_TIME)


def renew_response(code: Error, expiry_ms: int) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(error_code=code, expiry_timestamp_ms=expiry_ms, throttle_time_ms=0)


def renew_token(state: State, context: RequestContext, request: RenewDelegationTokenRequest, env: Env) -> Result:
    """RenewDelegationToken: by its owner or one of its renewers, up to its greatest lifetime."""

    def renewal(token: DelegationToken) -> Change:
        lifetime_ms = env.settings.delegation_token_expiry_time_ms
        if request.renew_period_ms > 0:
            lifetime_ms = min(lifetime_ms, request.renew_period_ms)
        expiration = min(token.max_timestamp, env.wall_ms + lifetime_ms)
        return Error.NONE, expiration, token_record(token, expiration)

    return _change_token(state, context, request, env, renew_response, renewal, checks_expiry=True)


def expire_refusal(
    _state: State, context: RequestContext, _request: Any, _env: Env
) -> ExpireDelegationTokenResponse | None:
    """The answer to a sender that may not use tokens; None for others."""
    return None if may_use_tokens(context) else expire_response(Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, NO_TIME)


def expire_response(code: Error, expiry_ms: int) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(error_code=code, expiry_timestamp_ms=expiry_ms, throttle_time_ms=0)


def expire_token(state: State, context: RequestContext, request: ExpireDelegationTokenRequest, env: Env) -> Result:
    """ExpireDelegationToken: after a period from now, at most its greatest lifetime; a negative period removes it."""

    def expiry(token: DelegationToken) -> Change:
        if request.expiry_time_period_ms < 0:
            return Error.NONE, env.wall_ms, RemoveDelegationTokenRecord(token_id=token.token_id)
        if is_expired(token, env.wall_ms):
            return Error.DELEGATION_TOKEN_EXPIRED, 0, None
        expiration = min(token.max_timestamp, env.wall_ms + request.expiry_time_period_ms)
        return Error.NONE, expiration, token_record(token, expiration)

    return _change_token(state, context, request, env, expire_response, expiry, checks_expiry=False)


def _change_token(
    state: State, context: RequestContext, request: Any, env: Env, response: Callable[[Error, int], Any],
    change: Callable[[DelegationToken], Change], *, checks_expiry: bool,
) -> Result:  # fmt: skip
    """What Renew and Expire share: the checks, then the change of a token that the sender may change.

    response: of an error and an expiry. change: an error, the new expiry, and the record, None with an error.
    """
    if not may_use_tokens(context):
        return at_once(response(Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, NO_TIME))
    rests_on = max(state.features.last_change(), state.tokens.last_change())
    token, code = usable_token(state, context, request.hmac, env, checks_expiry=checks_expiry)
    if token is None:
        return Result(response(code, 0), rests_on=rests_on)
    code, expiry_ms, record = change(token)
    if record is None:
        return Result(response(code, expiry_ms), rests_on=rests_on)
    return Result(response(code, expiry_ms), [(record, 0)])


def wrong_for_tokens(state: State, env: Env) -> Error | None:
    """Why there are no tokens in this cluster; None where there are."""
    if not env.settings.delegation_token_secret_key:
        return Error.DELEGATION_TOKEN_AUTH_DISABLED
    return Error.UNSUPPORTED_VERSION if state.metadata_version < TOKEN_LEVEL else None


def usable_token(
    state: State, context: RequestContext, secret: bytes, env: Env, *, checks_expiry: bool
) -> tuple[DelegationToken | None, Error]:
    """The token with this secret, where the sender may change it; else None and why not."""
    code = wrong_for_tokens(state, env)
    if code is not None:
        return None, code
    token = secrets_of(env).token(state, secret)
    if token is None:
        return None, Error.DELEGATION_TOKEN_NOT_FOUND
    if checks_expiry and is_expired(token, env.wall_ms):
        return None, Error.DELEGATION_TOKEN_EXPIRED
    sender = str(context.principal)
    if sender != token.owner and sender not in token.renewers:
        return None, Error.DELEGATION_TOKEN_OWNER_MISMATCH
    return token, Error.NONE


def is_expired(token: DelegationToken, now_ms: int) -> bool:
    return token.max_timestamp < now_ms or token.expiration_timestamp < now_ms


def token_record(token: DelegationToken, expiration: int) -> DelegationTokenRecord:
    """The token with another expiry."""
    return DelegationTokenRecord(**token._replace(expiration_timestamp=expiration)._asdict())


def sweep(state: State, env: Env) -> Result:
    """Remove expired tokens, at most 1,000 at a time."""
    expired = [token_id for token_id, token in state.tokens.items() if is_expired(token, env.wall_ms)]
    records = [(RemoveDelegationTokenRecord(token_id=token_id), 0) for token_id in expired[:SWEPT_MAX]]
    return Result(None, records, again=len(expired) > SWEPT_MAX)
