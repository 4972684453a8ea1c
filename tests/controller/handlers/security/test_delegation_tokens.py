"""Delegation tokens: DelegationTokenControlManagerTest's cases, and the permissions that requests need."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

import pytest

from controller.handlers.security import delegation_tokens
from controller.interface.access import Access
from controller.interface.inputs import Principal, WallClock
from controller.rules.authorizer import StandardAuthorizer
from records.errors import Error
from records.messages.tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from records.metadata.security import DelegationTokenRecord, RemoveDelegationTokenRecord
from tests.controller.rig import Rig

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "a key"
DAY_MS = 86_400_000
NOW_MS = 1_700_000_000_000
ANN, BOB, CAT = Principal("User", "ann"), Principal("User", "bob"), Principal("User", "cat")


def rig(**settings: Any) -> Rig:
    found = Rig(**{"delegation_token_secret_key": KEY, **settings}).lead()
    found.step(WallClock(NOW_MS - found.now_ms))
    return found


def create(
    found: Rig, *renewers: str, kind: str = "User", lifetime_ms: int = -1, owner: str = "", **context: Any
) -> Any:
    named = tuple(
        CreateDelegationTokenRequest.CreatableRenewers(principal_type=kind, principal_name=n) for n in renewers
    )
    request = CreateDelegationTokenRequest(
        owner_principal_type="User" if owner else None,
        owner_principal_name=owner or None,
        renewers=named,
        max_lifetime_ms=lifetime_ms,
    )
    return found.ask(request, **{"principal": ANN, "forwarded": True, **context})


def renew(found: Rig, secret: bytes, period_ms: int = -1, **context: Any) -> tuple[int, int]:
    request = RenewDelegationTokenRequest(hmac=secret, renew_period_ms=period_ms)
    answer = found.ask(request, **{"principal": ANN, "forwarded": True, **context})
    return answer.error_code, answer.expiry_timestamp_ms


def expire(found: Rig, secret: bytes, period_ms: int, **context: Any) -> tuple[int, int]:
    request = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=period_ms)
    answer = found.ask(request, **{"principal": ANN, "forwarded": True, **context})
    return answer.error_code, answer.expiry_timestamp_ms


def test_a_token_is_the_hmac_of_its_id_and_only_the_id_is_written() -> None:
    found = rig()

    answer = create(found, "bob", "cat")

    assert answer.hmac == hmac.digest(KEY.encode(), answer.token_id.encode(), "sha512")
    assert (answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms) == (
        NOW_MS, NOW_MS + DAY_MS, NOW_MS + 7 * DAY_MS,
    )  # fmt: skip
    assert (answer.principal_name, answer.token_requester_principal_name) == ("ann", "ann")
    assert found.records()[-1] == (
        DelegationTokenRecord(
            owner="User:ann",
            requester="User:ann",
            renewers=("User:bob", "User:cat"),
            issue_timestamp=NOW_MS,
            max_timestamp=NOW_MS + 7 * DAY_MS,
            expiration_timestamp=NOW_MS + DAY_MS,
            token_id=answer.token_id,
        ),
        0,
    )


def test_a_token_has_at_most_the_requested_lifetime() -> None:
    short, long = create(rig(), lifetime_ms=1000), create(rig(), lifetime_ms=30 * DAY_MS)

    assert (short.expiry_timestamp_ms, short.max_timestamp_ms) == (NOW_MS + 1000, NOW_MS + 1000)
    assert long.max_timestamp_ms == NOW_MS + 7 * DAY_MS
    for none in (0, -1):
        assert create(rig(), lifetime_ms=none).max_timestamp_ms == NOW_MS + 7 * DAY_MS


@pytest.mark.parametrize(
    "context",
    [
        {"forwarded": False},
        {"principal": Principal("User", "ann", token=True)},
        {"forwarded": False, "security_protocol": "SSL", "principal": Principal()},
    ],
)
@pytest.mark.parametrize("leads", [True, False])
def test_an_unauthenticated_sender_gets_no_token(context: dict[str, Any], leads: bool) -> None:
    found = rig() if leads else Rig(delegation_token_secret_key=KEY)

    answer = create(found, **context)

    refused = Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert (answer.error_code, answer.issue_timestamp_ms, answer.hmac) == (refused, -1, b"")
    assert renew(found, b"x", **context) == expire(found, b"x", 0, **context) == (refused, -1)


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_an_authenticated_sender_gets_a_token_for_itself(protocol: str) -> None:
    assert create(rig(), forwarded=False, security_protocol=protocol).error_code == 0


def test_a_token_for_another_owner_needs_permission() -> None:
    free, strict = rig(), rig(access=Access(StandardAuthorizer({"User:bob"})))

    assert create(free, owner="cat").principal_name == "cat"
    assert create(free, owner="cat").token_requester_principal_name == "ann"
    refused = create(strict, owner="cat")
    assert (refused.error_code, refused.principal_name, refused.max_timestamp_ms) == (
        Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED, "cat", -1,
    )  # fmt: skip
    assert create(strict, owner="ann").error_code == 0
    assert create(strict, owner="cat", principal=BOB).error_code == 0


def test_a_principal_of_another_type_is_another_owner_though_its_name_is_equal() -> None:
    strict = rig(access=Access(StandardAuthorizer({"User:bob"})))
    group = Principal("Group", "ann")
    own = create(strict)

    request = CreateDelegationTokenRequest(
        owner_principal_type="Group", owner_principal_name="ann", renewers=(), max_lifetime_ms=-1
    )
    refused = strict.ask(request, principal=ANN, forwarded=True)
    as_group = create(strict, owner="ann", principal=group)

    assert (own.error_code, own.principal_type) == (0, "User")
    assert (refused.error_code, refused.principal_type, refused.hmac) == (
        Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED, "Group", b"",
    )  # fmt: skip
    assert (as_group.error_code, as_group.hmac) == (Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED, b"")
    mismatch = Error.DELEGATION_TOKEN_OWNER_MISMATCH
    assert renew(strict, own.hmac, principal=group) == expire(strict, own.hmac, -1, principal=group) == (mismatch, 0)


def test_version_2_has_no_requester() -> None:
    answer = create(rig(), version=2)

    assert (answer.error_code, answer.token_requester_principal_name) == (0, "")


def test_owner_and_renewers_renew_a_token_up_to_its_greatest_lifetime() -> None:
    found = rig()
    secret = create(found, "bob", lifetime_ms=3 * DAY_MS).hmac
    found.now_ms += 1000

    assert renew(found, secret) == (0, NOW_MS + 1000 + DAY_MS)
    assert renew(found, secret, 5000, principal=BOB) == (0, NOW_MS + 6000)
    assert renew(found, secret, principal=CAT) == (Error.DELEGATION_TOKEN_OWNER_MISMATCH, 0)
    assert renew(found, b"other") == (Error.DELEGATION_TOKEN_NOT_FOUND, 0)
    found.now_ms += 6000
    assert renew(found, secret) == (Error.DELEGATION_TOKEN_EXPIRED, 0)
    # To renew, stock looks at the expiry first; to expire, at the owner.
    assert renew(found, secret, principal=CAT) == (Error.DELEGATION_TOKEN_EXPIRED, 0)
    assert expire(found, secret, 1000, principal=CAT) == (Error.DELEGATION_TOKEN_OWNER_MISMATCH, 0)


def test_the_owner_can_expire_a_token() -> None:
    found = rig()
    secret = create(found, "bob").hmac

    assert expire(found, secret, 0, principal=CAT) == (Error.DELEGATION_TOKEN_OWNER_MISMATCH, 0)
    assert expire(found, secret, 100 * DAY_MS) == (0, NOW_MS + 7 * DAY_MS)
    assert expire(found, secret, 500, principal=BOB) == (0, NOW_MS + 500)
    found.now_ms += 501
    assert expire(found, secret, 1000) == (Error.DELEGATION_TOKEN_EXPIRED, 0)
    assert expire(found, secret, -1) == (0, NOW_MS + 501)
    assert isinstance(found.records()[-1][0], RemoveDelegationTokenRecord)
    assert expire(found, secret, -1) == (Error.DELEGATION_TOKEN_NOT_FOUND, 0)


@pytest.mark.parametrize(
    "request_of",
    [
        lambda secret: RenewDelegationTokenRequest(hmac=secret, renew_period_ms=-1),
        lambda secret: ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=-1),
    ],
)
def test_a_removed_token_is_unknown_once_its_removal_is_committed(request_of: Callable[[bytes], Any]) -> None:
    found = rig()
    secret = create(found).hmac
    found.auto = False
    context = {"principal": ANN, "forwarded": True}

    removed = found.send(ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=-1), **context)
    unknown = found.send(request_of(secret), **context)
    before = set(found.replies)
    found.commit()

    assert before.isdisjoint({removed, unknown})
    assert found.replies[unknown].error_code == Error.DELEGATION_TOKEN_NOT_FOUND


def test_a_token_may_still_be_changed_in_the_millisecond_of_its_expiry() -> None:
    found = rig()
    secret = create(found).hmac

    assert expire(found, secret, 0) == (0, NOW_MS)
    assert renew(found, secret, 1000) == (0, NOW_MS + 1000)
    found.now_ms += 1000
    assert expire(found, secret, 0) == (0, NOW_MS + 1000)
    found.now_ms += 1
    assert renew(found, secret) == (Error.DELEGATION_TOKEN_EXPIRED, 0)


def test_expired_tokens_are_swept_a_thousand_at_a_time() -> None:
    found = rig(delegation_token_expiry_check_interval_ms=60_000)
    for _ in range(1001):
        create(found, lifetime_ms=1000)
    kept = create(found).token_id

    found.tick(60_001)
    left = len(found.state.tokens)
    found.tick(1000)

    assert (left, list(found.state.tokens)) == (2, [kept])


@pytest.mark.parametrize("count", [1000, 1001])
def test_another_sweep_follows_at_once_where_expired_tokens_are_left(count: int) -> None:
    found = rig()
    for _ in range(count):
        create(found, lifetime_ms=1000)
    found.step(WallClock(NOW_MS - found.now_ms + 1001))

    swept = delegation_tokens.sweep(found.state, found.controller.env)

    assert (len(swept.records), swept.again) == (1000, count == 1001)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"delegation_token_secret_key": None}, Error.DELEGATION_TOKEN_AUTH_DISABLED),
        ({"metadata_version": 13}, Error.UNSUPPORTED_VERSION),
        ({"delegation_token_secret_key": ""}, Error.DELEGATION_TOKEN_AUTH_DISABLED),
    ],
)
def test_no_token_is_created_while_tokens_are_disabled(settings: dict[str, Any], code: Error) -> None:
    answer = create(rig(**settings))

    assert (answer.error_code, answer.issue_timestamp_ms, answer.max_timestamp_ms) == (code, 0, 0)


def test_tokens_are_limited_for_each_owner() -> None:
    found = rig(delegation_tokens_owner_max=2)

    codes = [create(found).error_code for _ in range(4)]
    others = [create(found, principal=BOB).error_code for _ in range(2)]

    assert codes == [Error.NONE, Error.NONE, Error.POLICY_VIOLATION, Error.POLICY_VIOLATION]
    assert others == [Error.NONE, Error.NONE]
    assert [token.owner for token in found.state.tokens.values()] == ["User:ann"] * 2 + ["User:bob"] * 2


def test_tokens_are_limited_in_all_and_a_removed_one_makes_room() -> None:
    found = rig(delegation_tokens_max=3)
    secrets = [create(found, principal=principal).hmac for principal in (ANN, BOB, CAT)]

    refused = create(found)
    assert (refused.error_code, refused.hmac, refused.token_id) == (Error.POLICY_VIOLATION, b"", "")
    expire(found, secrets[0], -1)
    assert create(found).error_code == Error.NONE


def test_without_a_limit_there_are_as_many_as_are_asked_for() -> None:
    found = rig()

    assert {create(found).error_code for _ in range(200)} == {Error.NONE}


def test_a_token_is_found_though_many_others_came_and_went(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed of tokens that are gone is dropped, and computed again for those that are there."""
    monkeypatch.setattr(delegation_tokens, "SWEPT_MAX", 1)
    found = rig()
    kept = create(found).hmac

    for _ in range(10):
        secret = create(found).hmac
        assert renew(found, secret)[0] == renew(found, kept)[0] == Error.NONE
        assert expire(found, secret, -1)[0] == Error.NONE


def test_a_renewer_must_be_a_user() -> None:
    assert create(rig(), "bob", kind="Group").error_code == Error.INVALID_PRINCIPAL_TYPE


def test_the_secret_key_is_not_shown() -> None:
    found = rig()
    create(found)

    assert KEY not in repr(found.controller.env)


def test_a_name_that_does_not_fit_in_the_record_is_refused_and_the_controller_goes_on() -> None:
    found = rig()
    longest = "x" * 32767  # behind "User:" it has five bytes too many

    answers = [
        create(found, longest),
        create(found, owner=longest),
        create(found, principal=Principal("User", longest)),
        create(found, "bob"),
    ]

    assert [each.error_code for each in answers] == [Error.POLICY_VIOLATION] * 3 + [Error.NONE]
