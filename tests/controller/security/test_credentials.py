"""Where SCRAM servers find credentials: the node's file, what is committed in the log, delegation tokens."""

from __future__ import annotations

import hmac
from base64 import b64encode
from typing import Any

import pytest

from controller.config.node import NodeConfig
from controller.security.credentials import Credentials, parse_credentials
from controller.state.tables.scram import ScramCredential
from controller.state.tables.table import Table
from controller.state.tables.tokens import DelegationToken
from controller.state.tables.undo import Undo
from raft.network.mechanisms import SaslRefused, ScramClient, ScramServer, credential_of_password, new_nonce
from raft.security.files import FileError
from tests.controller.config.security.test_security_checks import given

SHA_256, SHA_512 = "SCRAM-SHA-256", "SCRAM-SHA-512"


class Kept:
    """The two tables, and the undo log that they share."""

    def __init__(self) -> None:
        self.undo = Undo()
        self.undo.recording = True
        self.scram = Table(self.undo, "scram")
        self.tokens = Table(self.undo, "tokens")


def credentials(state: Any, **settings: str) -> Credentials:
    config = NodeConfig(given("PLAINTEXT", **{key.replace("_", "."): value for key, value in settings.items()}))
    return Credentials(config, lambda: state, lambda: 0.0, lambda *_: None)


def log_in(
    found: Credentials, user: str, password: str, mechanism: str = SHA_256, *, is_token: bool = False
) -> ScramServer:
    """Raises SaslRefused."""
    server = ScramServer(mechanism, lambda *asked: found.find(mechanism, *asked), new_nonce())
    client = ScramClient(mechanism, user, password, {}, new_nonce(), is_token=is_token)
    client.answer(server.answer(client.answer(server.answer(client.first()))))
    return server


def test_a_credential_counts_when_it_is_committed_and_until_its_removal_is():
    state = Kept()
    found = credentials(state)
    first, second = (ScramCredential(b"salt", key, b"key", 4096) for key in (b"first", b"second"))

    seen = []
    for offset, change in enumerate(
        (
            lambda: state.scram.put(("alice", 1), first),
            lambda: state.undo.forget(1),
            lambda: state.scram.put(("alice", 1), second),
            lambda: state.undo.forget(3),
            lambda: state.scram.remove(("alice", 1)),
            lambda: state.undo.forget(5),
        )
    ):
        state.undo.offset = offset
        change()
        credential = found.find(SHA_256, "alice", False)
        seen.append(credential and credential.stored_key)

    assert seen == [None, b"first", b"first", b"second", b"second", None]
    assert found.find(SHA_512, "alice", False) is None
    assert found.find(SHA_256, "alice", True) is None
    assert credentials(None).find(SHA_256, "alice", False) is None


def token(**changes) -> DelegationToken:
    return DelegationToken("id", "User:carol", "User:carol", (), 1, 9, 8)._replace(**changes)


def test_a_token_authenticates_its_owner_until_it_expires():
    state = Kept()
    found = credentials(state, delegation_token_secret_key="cluster-secret")
    secret = b64encode(hmac.digest(b"cluster-secret", b"id", "sha512")).decode()

    state.tokens.put("id", token())
    with pytest.raises(SaslRefused, match="the user or the password is wrong"):
        log_in(found, "id", secret, is_token=True)
    state.undo.forget(1)
    server = log_in(found, "id", secret, is_token=True)

    assert (server.name, server.is_token, server.expires_ms) == ("carol", True, 8)
    with pytest.raises(SaslRefused):
        log_in(found, "id", secret)
    with pytest.raises(SaslRefused):
        log_in(found, "id", "other", is_token=True)
    state.undo.offset = 2
    state.tokens.put("id", token(expiration_timestamp=80))
    state.undo.forget(3)
    assert log_in(found, "id", secret, is_token=True).expires_ms == 80
    state.tokens.remove("id")
    state.undo.forget(4)
    with pytest.raises(SaslRefused):
        log_in(found, "id", secret, is_token=True)


def test_the_name_of_an_owner_begins_behind_the_first_colon():
    state = Kept()
    state.undo.recording = False
    state.tokens.put("id", token(owner="User:urn:carol"))
    found = credentials(state, delegation_token_secret_key="cluster-secret")

    assert found.find(SHA_256, "id", True).owner == "urn:carol"


def test_without_a_secret_key_no_token_authenticates():
    state = Kept()
    state.undo.recording = False
    state.tokens.put("id", token())

    assert credentials(state).find(SHA_256, "id", True) is None


def test_users_of_the_file_need_no_log_and_stand_before_those_of_it(tmp_path):
    file = tmp_path / "scram"
    file.write_text("# the controllers\n\nSCRAM-SHA-256=[name=node,password=hush]\n")
    state = Kept()
    state.undo.recording = False
    state.scram.put(("node", 1), ScramCredential(b"salt", b"x", b"y", 4096))

    for known in (None, state):
        found = credentials(known, kraft_scram_credentials_path=str(file))
        assert log_in(found, "node", "hush").name == "node"
        assert found.find(SHA_512, "node", False) is None
        assert found.find(SHA_256, "node", True) is None


def test_a_user_with_both_hashes_has_a_credential_of_its_own_for_each(tmp_path):
    """The passwords differ, so that neither mechanism can take the credential of the other."""
    file = tmp_path / "scram"
    file.write_text("SCRAM-SHA-256=[name=node,password=short]\nSCRAM-SHA-512=[name=node,password=long]\n")
    state = Kept()
    state.undo.recording = False
    for number, mechanism, password in ((1, SHA_256, "short"), (2, SHA_512, "long")):
        credential = credential_of_password(mechanism, password, b"salt", 4096)
        state.scram.put(("alice", number), ScramCredential(*credential[:4]))
    found = credentials(state, kraft_scram_credentials_path=str(file))

    for user in ("node", "alice"):
        for mechanism, password, other in ((SHA_256, "short", "long"), (SHA_512, "long", "short")):
            assert log_in(found, user, password, mechanism).name == user
            with pytest.raises(SaslRefused):
                log_in(found, user, other, mechanism)


@pytest.mark.parametrize("order", [(SHA_256, SHA_512), (SHA_512, SHA_256)])
def test_a_token_authenticates_by_each_mechanism_whichever_was_first(order):
    state = Kept()
    state.undo.recording = False
    state.tokens.put("id", token())
    found = credentials(state, delegation_token_secret_key="cluster-secret")
    secret = b64encode(hmac.digest(b"cluster-secret", b"id", "sha512")).decode()

    for mechanism in (*order, *order):
        assert log_in(found, "id", secret, mechanism, is_token=True).name == "carol"


@pytest.mark.parametrize(
    "line",
    ["SCRAM-SHA-256=[name=a,pass,word-hush]", "hush", "SCRAM-SHA-1=[name=a,password=hush]",
     "SCRAM-SHA-256=[name=a,iterations=4095,password=hush]", "SCRAM-SHA-256=[password=hush]",
     'SCRAM-SHA-256=[name=a,salt="AA==",saltedpassword="hush!"]'],
)  # fmt: skip
def test_a_line_that_is_no_credential_is_named_and_not_shown(tmp_path, line):
    file = tmp_path / "scram"
    file.write_text(f"SCRAM-SHA-256=[name=a,password=b]\n{line}\n")

    with pytest.raises(FileError, match="line 2 is no credential") as error:
        credentials(None, kraft_scram_credentials_path=str(file))
    assert str(file) in str(error.value)
    assert "hush" not in str(error.value)


def test_a_salted_password_is_taken_as_kafka_storage_takes_it():
    salted = 'SCRAM-SHA-256=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]'

    (key, credential), *_ = parse_credentials(salted.encode()).items()
    assert (key, credential.salt, credential.iterations) == (("alice", SHA_256), b"7q", 8192)
