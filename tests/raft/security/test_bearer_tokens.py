"""Which bearer tokens are valid."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from raft.network.bearer import TokenRefused, Verified
from raft.security.bearer_tokens import Rules, SignedTokens, UnsecuredTokens
from raft.security.jwks import parse_key_set
from tests.controller.security.signing import CLAIMS, NOW_S, key_set, private_key, public_jwk, signed, unsecured

RULES = Rules(frozenset(), None, 30, "scope", "sub")
KINDS = {
    "RS256": "RSA", "RS384": "RSA", "RS512": "RSA", "PS256": "RSA", "PS512": "RSA", "ES256": "P-256", "ES384": "P-384",
    "ES512": "P-521", "EdDSA": "OKP", "HS256": "oct", "HS512": "oct",
}  # fmt: skip


def validator(*keys, missing=None, **rules) -> SignedTokens:
    known = parse_key_set(key_set(*(keys or [public_jwk("RSA")])))
    return SignedTokens(
        lambda: known, ([] if missing is None else missing).append, RULES._replace(**rules), lambda: NOW_S * 1000
    )


def refused(tokens, token: str) -> str:
    with pytest.raises(TokenRefused) as error:
        tokens.verify(token)
    for part in token.split("."):
        assert len(part) < 8 or part not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("algorithm", KINDS)
def test_a_token_is_valid_by_a_key_of_its_kind(algorithm):
    kind = KINDS[algorithm]
    others = [public_jwk(other) for other in sorted(set(KINDS.values())) if other != kind]

    token = signed(algorithm, kind)
    assert validator(*others, public_jwk(kind)).verify(token) == Verified("alice", CLAIMS["exp"] * 1000)
    assert "no key for" in refused(validator(*others), token)


def test_one_key_verifies_tokens_of_each_of_its_algorithms():
    tokens = validator(public_jwk("RSA"))

    for algorithm in ("RS256", "PS256", "RS512", "RS256"):
        assert tokens.verify(signed(algorithm, "RSA")).name == "alice"


def test_unsigned_tokens_are_refused_whatever_they_say():
    for alg in ("none", "None", "NONE", "nOnE", "", None, 5, ["RS256"]):
        for signature in ("", "AAAA"):
            token = unsecured(CLAIMS, alg, signature)
            assert "is signed by algorithm" in refused(validator(), token)
    claims = urlsafe_b64encode(json.dumps(CLAIMS).encode()).decode().rstrip("=")
    assert "is signed by algorithm 'None'" in refused(validator(), f"e30.{claims}.")


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
@pytest.mark.parametrize("form", [PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1])
@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
def test_a_public_key_is_no_shared_secret(algorithm, form, encoding):
    """Algorithm confusion: signed by HMAC with the public key, which everybody has."""
    secret = private_key("RSA").public_key().public_bytes(encoding, form)
    unsigned = unsecured(CLAIMS, algorithm)[:-1]
    signature = hmac.digest(secret, unsigned.encode(), getattr(hashlib, f"sha{algorithm[2:]}"))
    token = f"{unsigned}.{urlsafe_b64encode(signature).decode().rstrip('=')}"

    assert f"no key for {algorithm}" in refused(validator(), token)
    assert f"no key for {algorithm}" in refused(validator(public_jwk("RSA", alg=algorithm)), token)


def test_a_token_of_another_key_or_with_another_content_is_refused():
    assert refused(validator(), signed(number=1)) == "its signature is wrong"
    header, claims, signature = signed().split(".")
    other = unsecured(CLAIMS | {"sub": "bob"}).split(".")[1]
    assert refused(validator(), f"{header}.{other}.{signature}") == "its signature is wrong"
    assert refused(validator(), f"{header}.{claims}.{signature[:-8]}") == "its signature is wrong"
    assert refused(validator(), f"{header}.{claims}.") == "its signature is wrong"


def test_the_key_is_found_by_its_id_or_among_all_that_fit():
    other = public_jwk("RSA") | {"kid": "1"}
    wrong = json.loads(json.dumps(public_jwk("RSA3072"))) | {"kid": "2"}
    both = validator(wrong, other)

    assert both.verify(signed(header={"kid": "1"})).name == "alice"
    assert both.verify(signed()).name == "alice"
    assert refused(both, signed(header={"kid": "2"})) == "its signature is wrong"


def test_a_key_that_the_set_lacks_is_asked_for():
    missing = []
    tokens = validator(public_jwk("RSA", kid="1"), missing=missing)

    assert "is signed by key 'new', which sasl.oauthbearer.jwks" in refused(tokens, signed(header={"kid": "new"}))
    refused(tokens, signed(header={"kid": "x" * 1001}))
    assert missing == ["new"]


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (public_jwk("RSA", use="enc"), "RS256"), (public_jwk("RSA", alg="RS512"), "RS256"),
        (public_jwk("RSA", key_ops=["encrypt"]), "RS256"), (public_jwk("P-256"), "ES384"),
    ],
)  # fmt: skip
def test_a_key_for_another_use_is_not_used(key, algorithm):
    kind = "P-384" if algorithm == "ES384" else "RSA"

    assert "no key for" in refused(validator(key), signed(algorithm, kind))


def test_a_key_that_is_too_short_is_refused():
    with pytest.warns(match="1024"):
        token = signed(kind="RSA1024")

    assert refused(validator(public_jwk("RSA1024")), token) == "its key is too short for RS256"


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"exp": None}, "no claim exp"), ({"iat": None}, "no claim iat"), ({"sub": None}, "no text in claim sub"),
        ({"sub": ""}, "no text in claim sub"), ({"sub": " "}, "no text in claim sub"), ({"sub": 5}, "no text in claim"),
        ({"exp": NOW_S - 31}, "it expired 31 s ago"), ({"exp": NOW_S - 30}, "it expired 30 s ago"),
        ({"nbf": NOW_S + 31}, "it is valid only in 31 s"), ({"nbf": NOW_S + 601}, "it is valid only in"),
        ({"iat": NOW_S + 601}, "it expires before it begins"), ({"exp": "soon"}, "claim exp is no time"),
        ({"exp": True}, "claim exp is no time"), ({"exp": 1e300}, "claim exp is no time"),
        ({"exp": 10**400}, "claim exp is no time"), ({"exp": -1}, "claim exp is no time"),
        ({"iat": [1]}, "claim iat is no time"), ({"aud": "kafka"}, "its audience is not in"),
        ({"aud": 5}, "its audience is neither"), ({"aud": ["a", 5]}, "its audience is neither"),
        ({"scope": ["a", "a"]}, "has a scope twice"), ({"scope": ""}, "claim scope"), ({"scope": [5]}, "claim scope"),
    ],
)  # fmt: skip
def test_claims_that_are_missing_or_wrong_are_refused(claims, said):
    assert said in refused(validator(), signed(**claims))


@pytest.mark.parametrize(
    "claims",
    [{"exp": NOW_S - 29, "iat": 0}, {"nbf": NOW_S + 30}, {"iat": NOW_S + 500}, {"iss": "any"}, {"scope": "a b"},
     {"scope": ["a"]}, {"scope": 5}, {"exp": NOW_S + 600.9}, {"iat": 0}],
)  # fmt: skip
def test_claims_within_the_bounds_are_taken(claims):
    assert validator().verify(signed(**claims)).name == "alice"


@pytest.mark.parametrize(
    ("rules", "claims", "said"),
    [
        ({"audiences": frozenset({"kafka", "k"})}, {"aud": "kafka"}, None),
        ({"audiences": frozenset({"kafka"})}, {"aud": ["other", "kafka"]}, None),
        ({"audiences": frozenset({"kafka"})}, {"aud": "other"}, "its audience is not in"),
        ({"audiences": frozenset({"kafka"})}, {}, "it has no audience"),
        ({"audiences": None}, {"aud": "other"}, None),
        ({"audiences": None}, {"aud": 5}, None),
        ({"audiences": None}, {}, None),
        ({"issuer": "https://idp"}, {"iss": "https://idp"}, None),
        ({"issuer": "https://idp"}, {"iss": "https://idp/"}, "its issuer is another"),
        ({"issuer": "https://idp"}, {}, "its issuer is another"),
        ({"subject_claim": "azp"}, {"azp": " alice "}, None),
        ({"subject_claim": "azp"}, {}, "no text in claim azp (sasl.oauthbearer.sub.claim.name)"),
        ({"scope_claim": "scp"}, {"scp": []}, None),
        ({"scope_claim": "scp"}, {"scp": [""]}, "claim scp (sasl.oauthbearer.scope.claim.name)"),
        ({"clock_skew_s": 0}, {"exp": NOW_S}, "it expired 0 s ago"),
    ],
)
def test_the_rules_of_the_listener_are_kept(rules, claims, said):
    tokens, token = validator(**rules), signed(**claims)

    if said is None:
        assert tokens.verify(token).name == "alice"
    else:
        assert said in refused(tokens, token)


@pytest.mark.parametrize(
    "token",
    ["", "a", "a.b", "..", "a.b.c.d", "a.b.c", "e30.e30.e30", "=.=.=", "\u00e9.e30.", "e30.e30\n.", "W10.e30.",
     "eyJhIjogMSwgImEiOiAyfQ.e30.", "x" * (65 << 10) + ".e30."],
)  # fmt: skip
def test_what_is_no_token_is_refused(token):
    refused(validator(), token)
    refused(UnsecuredTokens({}, lambda: NOW_S * 1000), token)


def test_critical_parameters_that_are_not_known_are_refused():
    assert "critical" in refused(validator(), signed(header={"crit": ["b64"], "b64": True}))


def test_json_that_nests_deeply_is_refused():
    deep = urlsafe_b64encode(b"[" * 40_000).decode().rstrip("=")

    assert "no JSON object" in refused(validator(), f"{deep}.e30.")


def unsecured_validator(**options: str) -> UnsecuredTokens:
    named = {f"unsecuredValidator{name}": value for name, value in options.items()}
    return UnsecuredTokens(named, lambda: NOW_S * 1000)


@pytest.mark.parametrize(
    ("options", "claims", "said"),
    [
        ({}, {}, None), ({}, {"iat": None}, None), ({}, {"exp": None}, "no claim exp"),
        ({}, {"exp": NOW_S}, "it has expired"), ({"AllowableClockSkewMs": "1000"}, {"exp": NOW_S}, None),
        ({}, {"iat": NOW_S + 1}, "issued in the future"), ({}, {"sub": None}, "no text in claim sub"),
        ({"PrincipalClaimName": "user"}, {"user": "alice"}, None),
        ({"RequiredScope": "a b"}, {"scope": ["b", "a", "c"]}, None),
        ({"RequiredScope": "a", "ScopeClaimName": "scp"}, {"scp": "a"}, None),
        ({"RequiredScope": "a b"}, {"scope": "a"}, "it lacks scope b"),
        ({"AllowableClockSkewMs": "9000000"}, {"iat": NOW_S + 700}, "it expires before it begins"),
    ],
)  # fmt: skip
def test_unsecured_tokens_are_checked_as_in_stock(options, claims, said):
    found = {name: value for name, value in (CLAIMS | claims).items() if value is not None}
    tokens = unsecured_validator(**options)

    if said is None:
        assert tokens.verify(unsecured(found)).name == "alice"
    else:
        assert said in refused(tokens, unsecured(found))


def test_a_signed_token_is_refused_where_unsecured_ones_are_taken():
    assert "set its sasl.server.callback.handler.class" in refused(unsecured_validator(), signed())
    assert "it is signed" in refused(unsecured_validator(), unsecured(CLAIMS, "none", "AAAA"))


def test_a_missing_scope_is_named_in_the_answer():
    with pytest.raises(TokenRefused) as error:
        unsecured_validator(RequiredScope="a b").verify(unsecured(CLAIMS))
    assert (error.value.status, error.value.scope) == ("insufficient_scope", "[a, b]")
