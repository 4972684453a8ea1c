from __future__ import annotations

import pytest

from controller.state.state import ReplayError
from controller.state.tables.scram import SCRAM_SHA_256, SCRAM_SHA_512, ScramCredential
from records.metadata.security import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from tests.controller.state.tables.replaying import state_of


def credential(name, mechanism, iterations=4096):
    return UserScramCredentialRecord(
        name=name, mechanism=mechanism, salt=b"s", stored_key=b"k", server_key=b"v", iterations=iterations
    )


def test_a_user_has_one_credential_for_each_mechanism():
    state = state_of(
        credential("bob", SCRAM_SHA_256), credential("bob", SCRAM_SHA_512), credential("bob", SCRAM_SHA_256, 8192)
    )

    assert state.scram == {
        ("bob", SCRAM_SHA_256): ScramCredential(b"s", b"k", b"v", 8192),
        ("bob", SCRAM_SHA_512): ScramCredential(b"s", b"k", b"v", 4096),
    }


def test_removing_a_missing_credential_is_refused():
    remove = RemoveUserScramCredentialRecord(name="bob", mechanism=SCRAM_SHA_256)

    assert state_of(credential("bob", SCRAM_SHA_256), remove).scram == {}
    with pytest.raises(ReplayError, match="user bob has no credential of SCRAM mechanism 1"):
        state_of(credential("bob", SCRAM_SHA_512), remove)
