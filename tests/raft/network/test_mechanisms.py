"""PLAIN and SCRAM without IO: both sides against each other, by the RFCs, and what is refused."""

from __future__ import annotations

import pytest

from raft.network.mechanisms import (
    HASHES,
    PlainClient,
    PlainServer,
    SaslRefused,
    ScramClient,
    ScramServer,
    credential_of_password,
    new_nonce,
)


def scram(mechanism: str, *, password: str = "hush", user: str = "al,i=ce", iterations: int = 4096):
    credential = credential_of_password(mechanism, "hush", b"salt", iterations)
    server = ScramServer(
        mechanism, lambda name, is_token: credential if name == "al,i=ce" and not is_token else None, new_nonce()
    )
    return ScramClient(mechanism, user, password, {}, new_nonce()), server


@pytest.mark.parametrize("mechanism", HASHES)
def test_both_sides_of_scram_agree_on_a_password(mechanism):
    client, server = scram(mechanism)

    final = client.answer(server.answer(client.first()))
    assert server.name is None
    assert client.answer(server.answer(final)) is None

    assert (server.name, client.is_complete) == ("al,i=ce", True)


def test_a_client_that_keeps_salted_passwords_follows_a_change_of_the_iterations():
    kept = {}
    for iterations in (4096, 8192):
        credential = credential_of_password("SCRAM-SHA-256", "hush", b"salt", iterations)
        server = ScramServer("SCRAM-SHA-256", lambda *_, found=credential: found, new_nonce())
        client = ScramClient("SCRAM-SHA-256", "alice", "hush", kept, new_nonce())

        client.answer(server.answer(client.answer(server.answer(client.first()))))

        assert (server.name, client.is_complete) == ("alice", True)


@pytest.mark.parametrize("user", ["=2C", "=3D", ",=2C=", "=3D2C", "a=,"])
def test_a_user_whose_name_has_what_is_escaped_is_that_user(user):
    credential = credential_of_password("SCRAM-SHA-256", "hush", b"salt", 4096)
    server = ScramServer("SCRAM-SHA-256", lambda *asked: {(user, False): credential}.get(asked), new_nonce())
    client = ScramClient("SCRAM-SHA-256", user, "hush", {}, new_nonce())

    client.answer(server.answer(client.answer(server.answer(client.first()))))

    assert server.name == user


@pytest.mark.parametrize(("authorization", "may"), [("al=2Ci=3Dce", True), ("al=2Ci", False), ("al=3D2Ci=3Dce", False)])
def test_a_client_of_scram_may_ask_to_act_for_its_own_user_alone(authorization, may):
    _, server = scram("SCRAM-SHA-256")
    first = f"n,a={authorization},n=al=2Ci=3Dce,r=x".encode()

    if may:
        assert server.answer(first).startswith(b"r=x")
        return
    with pytest.raises(SaslRefused) as error:
        server.answer(first)
    text = "Authentication failed: Client requested an authorization id that is different from username"
    assert error.value.answer == text


def test_the_client_of_rfc_7677_is_computed():
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", {}, "rOprNGfwEbeRWgbNEkqO")
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"

    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    final = client.answer(f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode())
    assert final == f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    assert client.answer(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None
    assert client.is_complete


@pytest.mark.parametrize("changes", [{"password": "other"}, {"user": "bob"}, {"iterations": 4095}])
def test_a_wrong_password_an_unknown_user_and_a_weak_credential_are_refused(changes):
    client, server = scram("SCRAM-SHA-256", **changes)

    with pytest.raises(SaslRefused) as error:
        server.answer(client.answer(server.answer(client.first())))

    assert server.name is None
    assert error.value.answer is None
    assert "hush" not in str(error.value)


@pytest.mark.parametrize("token", [b"", b"n,,n=a", b"n,,n=a,r=", b"p=tls,,n=a,r=x", b"\xff", b"n,,n=a\0b,r=x"])
def test_a_first_message_that_is_none_is_refused(token):
    with pytest.raises(SaslRefused):
        ScramServer("SCRAM-SHA-256", lambda *_: None, new_nonce()).answer(token)


@pytest.mark.parametrize("iterations", [1, 4095, 16385, 999_999_999])
def test_a_client_refuses_iterations_beyond_its_bounds(iterations):
    client = ScramClient("SCRAM-SHA-256", "a", "b", {}, new_nonce())

    with pytest.raises(SaslRefused, match="iterations"):
        client.answer(f"r={client._nonce}x,s=c2FsdA==,i={iterations}".encode())


@pytest.mark.parametrize("change", [lambda final: final[:-8] + b"AAAAAAA=", lambda final: final.replace(b"r=", b"r=x")])
def test_a_proof_or_a_nonce_that_is_wrong_is_refused_and_ends_the_exchange(change):
    client, server = scram("SCRAM-SHA-512")
    final = client.answer(server.answer(client.first()))

    with pytest.raises(SaslRefused):
        server.answer(change(final))
    with pytest.raises(SaslRefused):
        server.answer(final)


def test_a_token_after_the_end_of_an_exchange_is_refused():
    client, server = scram("SCRAM-SHA-256")
    final = client.answer(server.answer(client.first()))
    server.answer(final)

    with pytest.raises(SaslRefused, match="after the end of the exchange"):
        server.answer(final)


def test_a_server_that_does_not_know_the_password_is_refused():
    client, server = scram("SCRAM-SHA-256")
    client.answer(server.answer(client.first()))

    with pytest.raises(SaslRefused, match="signature"):
        client.answer(b"v=" + b"A" * 43 + b"=")


def test_plain_takes_the_password_of_its_user():
    client, server = PlainClient("a", "hush"), PlainServer({"a": "hush"})

    assert client.answer(server.answer(client.first())) is None
    assert (server.name, client.is_complete) == ("a", True)


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"\0a\0x", "Authentication failed: Invalid username or password"),
        (b"\0b\0hush", "Authentication failed: Invalid username or password"),
        (b"b\0a\0hush", "Authentication failed: Client requested an authorization id that is different from username"),
        (b"\0\0hush", "Authentication failed: username not specified"),
        (b"\0a\0", "Authentication failed: password not specified"),
        (b"a", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0a\0b\0c", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0a\0b\0c\0d", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
    ],
)
def test_plain_refuses_with_the_texts_of_kafka(token, said):
    with pytest.raises(SaslRefused) as error:
        PlainServer({"a": "hush", "b": ""}).answer(token)

    assert error.value.answer == said
    assert "hush" not in str(error.value)


def test_the_id_of_a_token_is_no_user_without_the_extension_that_says_so():
    credential = credential_of_password("SCRAM-SHA-256", "hush", b"salt", 4096)
    tokens = {("id", True): credential}

    def first(extension: str) -> bytes:
        server = ScramServer("SCRAM-SHA-256", lambda *asked: tokens.get(asked), "nonce")
        return server.answer(f"n,,n=id,r=mine{extension}".encode())

    assert first(",tokenauth=true").startswith(b"r=minenonce,")
    with pytest.raises(SaslRefused):
        first("")
