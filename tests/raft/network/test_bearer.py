"""OAUTHBEARER: the messages of both sides, as RFC 7628 and Kafka have them."""

from __future__ import annotations

import pytest

from raft.network.bearer import BearerClient, BearerServer, TokenRefused, Verified, is_extension, read_first
from raft.network.mechanisms import SaslRefused


def server(reason: str | None = None, **fields: str) -> BearerServer:
    def verify(token: str) -> Verified:
        assert token == "a.b.c"
        if reason is not None:
            raise TokenRefused(reason, **fields)
        return Verified("alice", 5000)

    return BearerServer(verify)


def test_both_sides_agree_on_a_valid_token():
    client, found = BearerClient(lambda: "a.b.c", {"traceId": "1 2"}), server()

    assert client.first() == b"n,,\x01auth=Bearer a.b.c\x01traceId=1 2\x01\x01"
    assert client.answer(found.answer(client.first())) is None
    assert (client.is_complete, found.name, found.expires_ms) == (True, "alice", 5000)


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({}, b'{"status":"invalid_token"}'),
        ({"status": "insufficient_scope", "scope": "[kafka]"}, b'{"status":"insufficient_scope", "scope":"[kafka]"}'),
    ],
)
@pytest.mark.parametrize("next_token", [b"\x01", b"n,,\x01auth=Bearer a.b.c\x01\x01"])
def test_a_token_that_is_refused_ends_the_exchange_in_two_steps(fields, answer, next_token):
    client, found = BearerClient(lambda: "a.b.c", {}), server("it has expired", **fields)

    challenge = found.answer(client.first())
    assert challenge == answer
    assert client.answer(challenge) == b"\x01"
    assert not client.is_complete
    with pytest.raises(SaslRefused, match="the token is refused: it has expired") as error:
        found.answer(next_token)
    assert error.value.answer == answer.decode()
    assert found.name is None


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"", "not one of OAUTHBEARER"),
        (b"\x01", "not one of OAUTHBEARER"),
        (b"n,,\x01\x01", "has no token"),
        (b"n,,\x01auth=Bearer \x01\x01", "has no token"),
        (b"n,,\x01auth=Bearer a b\x01\x01", "has no token"),
        (b"n,,\x01auth=Basic a.b.c\x01\x01", "scheme 'Basic', not Bearer"),
        (b"n,a=,\x01auth=Bearer a.b.c\x01\x01", "not one of OAUTHBEARER"),
        (b"p,,\x01auth=Bearer a.b.c\x01\x01", "not one of OAUTHBEARER"),
        (b"n,,\x01auth=Bearer a.b.c\x01", "not one of OAUTHBEARER"),
        (b"n,,\x01auth=Bearer a.b.c\x01a1=b\x01\x01", "not one of OAUTHBEARER"),
        (b"n,,\x01auth=Bearer a\xff.b.c\x01\x01", "not one of OAUTHBEARER"),
        (b"x" * ((64 << 10) + 1), "more than 65536 bytes"),
    ],
)
def test_a_first_message_that_is_none_is_refused(token, said):
    with pytest.raises(SaslRefused, match=said):
        server().answer(token)


@pytest.mark.parametrize("name", [b"alice", b"bob"])
def test_an_authorization_id_must_be_the_principal(name):
    found = server()
    first = b"n,a=" + name + b",\x01auth=BEARER  a.b.c\x01\x01"

    if name == b"alice":
        assert found.answer(first) == b""
        return
    with pytest.raises(SaslRefused) as error:
        found.answer(first)
    assert error.value.answer == (
        "Authentication failed: Client requested an authorization id (bob) that is different from the token's "
        "principal name (alice)"
    )
    assert found.name is None


def test_hostile_messages_are_read_in_linear_time():
    for part in (b"a=b\x01", b"=2C", b"\x01", b"a"):
        with pytest.raises(SaslRefused):
            read_first(b"n,a=" + part * 20_000)
        with pytest.raises(SaslRefused):
            read_first(b"n,,\x01" + part * 20_000 + b"\xff")


@pytest.mark.parametrize(
    ("name", "value", "valid"),
    [("traceId", "1", True), ("auth", "1", False), ("trace1", "1", False), ("a", "", False), ("a", "\x01", False)],
)
def test_extensions_have_letters_for_names_and_text_for_values(name, value, valid):
    assert is_extension(name, value) is valid
