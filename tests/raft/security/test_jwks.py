"""What is read of a JSON Web Key Set."""

from __future__ import annotations

import json

import pytest

from raft.security.jwks import KeySet, parse_key_set
from tests.controller.security.signing import key_set, public_jwk


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no JSON Web Key Set"), (b"[]", "no JSON Web Key Set"), (b'{"keys": 5}', "no JSON Web Key Set"),
        (b'{"keys": []}', "no key of type"), (b'{"keys": [5, {"kty": "x"}, {}]}', "no key of type"),
        (b'{"keys": [' + b'{"kty": "RSA"},' * 1000 + b'{"kty": "RSA"}]}', "more than 1000 keys"),
        (b'{"keys": ' + b"[" * 100_000, "no JSON Web Key Set"),
    ],
)  # fmt: skip
def test_what_is_no_key_set_is_refused(data, said):
    with pytest.raises(ValueError, match=said):
        parse_key_set(data)


def test_private_parts_are_not_kept():
    key = public_jwk("RSA", kid="1") | {"d": "hush", "p": "hush"}

    assert "hush" not in json.dumps(parse_key_set(key_set(key))._keys)


@pytest.mark.parametrize("change", [{"n": "!"}, {"n": 5}, {"e": ""}, {"n": None}])
def test_a_key_that_cannot_be_used_is_left_out(change):
    found = parse_key_set(key_set(public_jwk("RSA", kid="1") | change, public_jwk("RSA", kid="2")))

    assert len(found.candidates({"alg": "RS256"})) == 1
    assert (found.has("1"), found.has("3")) == (True, False)


def test_no_more_than_eight_keys_are_tried():
    found = parse_key_set(key_set(*[public_jwk("P-256") for _ in range(20)]))

    assert len(found.candidates({"alg": "ES256"})) == 8
    assert "20 keys" in repr(found)
    assert isinstance(found, KeySet)
