from __future__ import annotations

import base64
import hashlib
import hmac
import random

import pytest

from raft.security.scram_arguments import ScramArgumentError, new_salt, scram_record

draw = random.Random(5).getrandbits

# The exchange of RFC 7677 (user `user`, password `pencil`).
AUTH_MESSAGE = (
    b"n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,"
    b"i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
)
CLIENT_PROOF = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
SERVER_SIGNATURE = base64.b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_a_password_makes_the_keys_of_rfc_7677() -> None:
    record = scram_record('SCRAM-SHA-256=[name=user,password=pencil,salt="W22ZaJ0SNY7soEsUEjb6gQ=="]', draw)

    signature = hmac.digest(record.stored_key, AUTH_MESSAGE, "sha256")
    client_key = bytes(a ^ b for a, b in zip(CLIENT_PROOF, signature, strict=True))
    assert hashlib.sha256(client_key).digest() == record.stored_key
    assert hmac.digest(record.server_key, AUTH_MESSAGE, "sha256") == SERVER_SIGNATURE
    assert (record.name, record.mechanism, record.iterations) == ("user", 1, 4096)


def test_a_salted_password_is_used_unchanged() -> None:
    given = 'SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]'

    record = scram_record(given, draw)

    client_key = hmac.digest(b"`!", b"Client Key", "sha512")
    assert (record.name, record.mechanism, record.salt, record.iterations) == ("alice", 2, b"7q", 8192)
    assert record.stored_key == hashlib.sha512(client_key).digest()
    assert record.server_key == hmac.digest(b"`!", b"Server Key", "sha512")


def test_a_salt_is_generated_if_none_is_given() -> None:
    first, second = (scram_record("SCRAM-SHA-256=[name=a,password=b]", draw) for _ in range(2))

    assert first.salt != second.salt


def test_a_generated_salt_is_a_number_of_130_bits_in_base_36() -> None:
    salt = new_salt(lambda bits: (1 << bits) - 1)

    assert int(salt, 36) == (1 << 130) - 1
    assert [new_salt(lambda _: 0), new_salt(lambda _: 36)] == [b"0", b"10"]


def test_a_salted_password_that_cannot_be_read_is_not_repeated() -> None:
    with pytest.raises(ScramArgumentError) as error:
        scram_record("SCRAM-SHA-256=[name=a,salt=MTIz,saltedpassword=!secret!]", draw)

    assert str(error.value) == "Failed to decode given saltedPassword: [hidden]"
