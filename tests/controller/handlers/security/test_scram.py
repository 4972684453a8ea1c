"""AlterUserScramCredentials: ScramControlManagerTest's cases."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest

from records.errors import Error
from records.messages.scram import AlterUserScramCredentialsRequest
from records.metadata.security import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from tests.controller.rig import Rig

Upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
Deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
TWICE = "A user credential cannot be altered twice in the same request"


def upsertion(name: str = "ann", **fields: Any) -> Upsertion:
    given = {"name": name, "mechanism": 1, "iterations": 4096, "salt": b"salt", "salted_password": b"salted", **fields}
    return Upsertion(**given)


def alter(rig: Rig, *upsertions: Upsertion, deletions: tuple[tuple[str, int], ...] = ()) -> list[Any]:
    removed = tuple(Deletion(name=name, mechanism=mechanism) for name, mechanism in deletions)
    answer = rig.ask(AlterUserScramCredentialsRequest(deletions=removed, upsertions=upsertions))
    return [(each.user, each.error_code, each.error_message) for each in answer.results]


def test_of_a_salted_password_only_the_keys_of_rfc_5802_are_kept() -> None:
    rig = Rig().lead()

    answer = alter(rig, upsertion(mechanism=2, iterations=16384))

    client_key = hmac.digest(b"salted", b"Client Key", "sha512")
    assert answer == [("ann", 0, None)]
    assert rig.records()[-1] == (
        UserScramCredentialRecord(
            name="ann",
            mechanism=2,
            salt=b"salt",
            stored_key=hashlib.sha512(client_key).digest(),
            server_key=hmac.digest(b"salted", b"Server Key", "sha512"),
            iterations=16384,
        ),
        0,
    )


@pytest.mark.parametrize(
    ("given", "code", "text"),
    [
        (upsertion(""), Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (upsertion(mechanism=0), Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (upsertion(mechanism=3), Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (upsertion(iterations=4095), Error.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        (upsertion(iterations=16385), Error.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        (upsertion(salted_password=b""), Error.UNKNOWN_SERVER_ERROR, None),
    ],
)
def test_an_invalid_credential_is_refused_on_its_own(given: Upsertion, code: Error, text: str | None) -> None:
    rig = Rig().lead()

    answer = alter(rig, given, upsertion("bob"))

    assert answer == [("bob", 0, None), (given.name, code, text)]
    assert list(rig.state.scram) == [("bob", 1)]


def test_an_existing_credential_is_removed() -> None:
    rig = Rig().lead()
    alter(rig, upsertion())

    answer = alter(rig, deletions=(("ann", 1), ("bob", 1), ("", 1), ("x", 9)))

    assert sorted(answer) == [
        ("", Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        ("ann", 0, None),
        ("bob", Error.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist"),
        ("x", Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
    ]
    assert rig.records()[-1] == (RemoveUserScramCredentialRecord(name="ann", mechanism=1), 0)


def test_a_user_that_is_named_twice_is_not_changed() -> None:
    rig = Rig().lead()
    alter(rig, upsertion())
    before = rig.end_offset

    answers = [
        alter(rig, upsertion(), upsertion(mechanism=2)),
        alter(rig, upsertion(), deletions=(("ann", 1),)),
        alter(rig, upsertion("z"), upsertion("z"), upsertion("z")),
    ]

    assert answers == [[("ann", Error.DUPLICATE_RESOURCE, TWICE)]] * 2 + [[("z", Error.DUPLICATE_RESOURCE, TWICE)]]
    assert rig.end_offset == before


def test_scram_is_refused_below_3_5() -> None:
    rig = Rig(metadata_version=10).lead()

    answer = alter(rig, upsertion())

    assert answer == [("ann", Error.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM")]


def test_records_and_results_stand_in_the_order_of_kafkas_maps() -> None:
    rig = Rig().lead()

    answer = alter(rig, *(upsertion(name) for name in ("zoe", "bob", "ann")))

    assert [user for user, _, _ in answer] == ["ann", "zoe", "bob"]
    assert [record.name for record, _ in rig.records() if isinstance(record, UserScramCredentialRecord)] == [
        "ann", "zoe", "bob",
    ]  # fmt: skip


def test_on_a_standby_only_an_empty_request_succeeds() -> None:
    rig = Rig()

    assert alter(rig) == []
    assert [(user, code) for user, code, _ in alter(rig, upsertion("b"), upsertion("a"))] == [
        ("a", Error.NOT_CONTROLLER), ("b", Error.NOT_CONTROLLER),
    ]  # fmt: skip
