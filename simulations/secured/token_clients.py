"""Rogue clients that get delegation tokens, and change those of others (KIP-48, KIP-373)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.codec import decode_prefix
from records.errors import Error
from records.headers import ResponseHeader, response_header_version
from records.messages.tokens import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from simulations.secured.intruders import log_in
from simulations.secured.people import ADMIN, ALICE, BOB, MALLORY, MEMBER
from simulations.secured.requests import acl, ask, pick, seal
from simulations.secured.rights import ALLOW, ANY, CREATE_TOKENS, LITERAL, USER
from simulations.sockets.rogue_clients import Visit
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.secured.scram_clients import AnsweringVisit

CREATION_VERSION = 3
# The type of a principal that authenticates by a mechanism here, and another one, which brokers may tell of.
TYPES = ("User", "Group")
LIFE_MS = 60_000


def _wish(owner: tuple[str, str] | None, renewers: tuple[str, ...]) -> CreateDelegationTokenRequest:
    wanted = CreateDelegationTokenRequest.CreatableRenewers
    kind, name = (None, None) if owner is None else owner
    return CreateDelegationTokenRequest(
        owner_principal_type=kind, owner_principal_name=name, max_lifetime_ms=LIFE_MS,
        renewers=tuple(wanted(principal_type="User", principal_name=each) for each in renewers),
    )  # fmt: skip


def own_tokens(visit: AnsweringVisit) -> None:
    """An administrator allows a user tokens of an owner; the user asks for some; others change them."""
    rng = visit.rng
    log_in(visit, ADMIN)
    allowed = pick(rng, (f"User:{BOB}", f"Group:{ALICE}"))
    visit.write(ask(acl(USER, allowed, LITERAL, f"User:{ALICE}", ANY, CREATE_TOKENS, ALLOW), 10))
    owners = (None, ("User", ALICE), ("Group", ALICE), ("User", BOB), ("Group", BOB))
    renewers = pick(rng, ((), (BOB,), (MALLORY, BOB)))

    def come() -> None:
        type(visit)(visit.rogue, visit.host, lambda other: _get(other, owners, renewers), 0)

    visit.later(between(rng, 100, 400), come)


def _get(visit: AnsweringVisit, owners: tuple[Any, ...], renewers: tuple[str, ...]) -> None:
    log_in(visit, ALICE)

    def take(number: int, data: bytes) -> None:
        if number < 10:
            return  # of the authentication
        version = response_header_version(CreateDelegationTokenResponse, CREATION_VERSION)
        _, at = decode_prefix(ResponseHeader, version, data, 0)
        answer = decode_prefix(CreateDelegationTokenResponse, CREATION_VERSION, data, at)[0]
        if answer.error_code == Error.NONE:
            secret = bytes(answer.hmac)
            Visit(visit.rogue, visit.host, lambda other: _change(other, secret), 0)

    visit.on_answer = take
    for number, owner in enumerate(owners, 10):
        visit.write(ask(_wish(owner, renewers), number))


def _change(visit: Visit, secret: bytes) -> None:
    """A broker tells of renewals and expiries in several names."""
    log_in(visit, MEMBER)
    rng = visit.rng
    for number in range(10, 16):
        request: Any = RenewDelegationTokenRequest(hmac=secret, renew_period_ms=LIFE_MS // 2)
        if rng.random() < 0.5:
            request = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=LIFE_MS // 3)
        visit.write(ask(seal(request, number, pick(rng, TYPES), pick(rng, (ALICE, ALICE, BOB, MALLORY))), number))


MANNERS: dict[str, Callable[[AnsweringVisit], None]] = {"tokens": own_tokens}
