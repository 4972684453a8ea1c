"""Secrets are hidden wherever they are known or their form tells them; names get pseudonyms on request."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tools.kraftctl.debug.redaction import Redaction, jaas_secrets, secrets_of, vocabulary

KEY = bytes(32)


def redacted(text: str, *secrets: str) -> str:
    return Redaction(secrets, None, KEY).text(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("ssl.keystore.password=hunter2 and more", "ssl.keystore.password=[hidden] and more"),
        ('jaas.config=x user="a" password="hun\\"ter 2";', 'jaas.config=[hidden] user="a" password=[hidden];'),
        ('{"clientSecret": "hunter2", "n": 1}', '{"clientSecret": [hidden], "n": 1}'),
        ('"{\\"password\\":\\"hunter2\\"}"', '"{\\"password\\":[hidden]}"'),
        ("SCRAM-SHA-512=[name=a,password=hunter2]", "SCRAM-SHA-512=[name=a,password=[hidden]]"),
        ("stored_key: aHVudGVyMg==, x", "stored_key: [hidden], x"),
        ("Authorization: Bearer hunter2.hunter3 x", "Authorization: Bearer [hidden] x"),
        ("got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl end", "got [hidden] end"),
        ("https://joe:hunter2@host/p?key=hunter2&x=1 end", "https://[hidden]@host/p?[hidden] end"),
        ("https://joe:hun@ter2@host/p end", "https://[hidden]@host/p end"),
        ('{"client_secret":["hunter2", "hun]ter3"],"n":["x"]}', '{"client_secret":[hidden],"n":["x"]}'),
        ("passphrase=hunter2 pwd: hunter3 x", "passphrase=[hidden] pwd: [hidden] x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\nx", "[hidden]\nx"),
        ("-----BEGIN PRIVATE KEY-----\nhunter2, whose end was cut off", "[hidden]"),
        ("nothing to hide: epoch=4 offset=17", "nothing to hide: epoch=4 offset=17"),
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_form(text: str, left: str) -> None:
    assert redacted(text) == left


def test_a_known_secret_is_hidden_everywhere_also_in_base64() -> None:
    secret = "correct horse"
    encoded = b64encode(secret.encode()).decode()

    assert redacted(f"a {secret} b x{secret}y {encoded}", secret) == "a [hidden] b x[hidden]y [hidden]=="[
        : -len("==")
    ] + ("==" if encoded.endswith("==") else "=" if encoded.endswith("=") else "")


def test_nothing_is_left_of_a_secret_that_begins_with_another_one() -> None:
    assert redacted("a change-me-too b change-me c", "change-me", "change-me-too") == "a [hidden] b [hidden] c"


def test_a_short_secret_is_hidden_only_where_it_stands_alone() -> None:
    assert redacted("abc abcd x-abc", "abc") == "[hidden] abcd x-[hidden]"


def test_secrets_of_a_configuration_are_those_of_secret_unknown_and_looked_up_keys() -> None:
    originals = {
        "ssl.key.password": "one", "my.plugin.setting": "second-one", "my.plugin.on": "true", "node.id": "3",
        "listeners": "looked-up", "listener.name.c.plain.sasl.jaas.config": 'X required username="u" password="four";',
    }  # fmt: skip

    assert secrets_of(originals, ["listeners"]) == {"one", "second-one", "looked-up", "four"}
    assert jaas_secrets("SCRAM-SHA-256=[name=a,password=five]".replace(",", " ").replace("]", " ")) == {
        "five",
        "[name=a",
    }


def test_names_get_the_same_pseudonym_everywhere() -> None:
    redaction = Redaction([], ["orders", "data", "c1.example.com"], KEY)
    orders, data = redaction.pseudonym("orders"), redaction.pseudonym("data")

    assert redaction.text("topic orders-3 of data") == f"topic {orders}-3 of {data}"
    assert redaction.value({"name": "orders", "replicas": [1, 2]}) == {"name": orders, "replicas": [1, 2]}


def test_a_word_that_is_none_of_ours_is_a_name() -> None:
    redaction = Redaction([], [], KEY)

    text = redaction.text("node 3 at db7.internal:9093, 10.0.0.7 and [fe80::1%eth0]: Connection refused, epoch=4")

    for name in ("db7", "internal", "10.0.0.7", "fe80", "eth0"):
        assert name not in text
    assert text.startswith("node 3 at name-")
    assert text.endswith("Connection refused, epoch=4")


def test_ids_that_kafka_draws_stay() -> None:
    redaction = Redaction([], [], KEY)
    uuid = "4L6g3nShT-eMCtK--X86sw"

    assert redaction.value({"topicId": uuid, "name": uuid})["topicId"] == uuid
    assert redaction.value({"topicId": uuid, "name": uuid})["name"] != uuid


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "0",
        "passw",
        "token=",
        "a://",
        "a://@",
        "token=[",
        'token=["',
        "eyJ.",
        "-----BEGIN PRIVATE KEY-----",
        "::",
        '"\\',
    ],
)
def test_a_hostile_text_takes_linear_time(part: str) -> None:
    text = part * ((1 << 19) // len(part))

    assert Redaction(["secret-of-mine"], ["orders"], KEY).text(text) is not None


def test_a_name_that_is_a_word_of_ours_is_removed_where_it_is_known() -> None:
    assert Redaction([], [], KEY).text("epoch broker-7") != "epoch broker-7"
    assert "epoch" not in Redaction([], ["epoch"], KEY).text("the epoch, epoch-3")


def test_pseudonyms_of_two_bundles_differ() -> None:
    assert Redaction([], [], KEY).pseudonym("orders") != Redaction([], [], b"1" * 32).pseudonym("orders")


def test_the_vocabulary_has_words_of_the_product_and_no_name_of_an_example() -> None:
    words = vocabulary()

    assert {"node_starting", "controller.quorum.voters", "not_controller", "topicrecord", "epoch", "refused"} <= words
    assert not {"orders", "payments", "alice", "localhost", "example"} & words
