"""JAAS text is read as Kafka reads it, and no error shows a secret."""

from __future__ import annotations

import pytest

from raft.security.jaas import parse_jaas
from records.java.config_error import ConfigError

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f'{PLAIN} required username="a" password="b";', {"username": "a", "password": "b"}),
        (f"{PLAIN} required username=alice;", {"username": "alice"}),
        (f"{PLAIN} required;", {}),
        (f"{PLAIN}\n REQUIRED // who\n user_a='x y' /* or */ user_b=\"=;\";", {"user_a": "x y", "user_b": "=;"}),
        (f'{PLAIN} required password="a\\"b\\\\c\\101";', {"password": 'a"b\\cA'}),
        (f'{PLAIN} required user_a-b$c="1";', {"user_a-b$c": "1"}),
    ],
)
def test_the_options_of_a_module_are_read(text, options):
    (module,) = parse_jaas(text, "key")

    assert module.name == PLAIN
    assert module.options == options


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Login module not specified"),
        (PLAIN, "control flag not specified"),
        (f"{PLAIN} maybe;", "Invalid login module control flag"),
        (f'{PLAIN} required password="s3cret"', "not terminated by semi-colon"),
        (f"{PLAIN} required password=12345;", "Value not specified for option 1"),
        (f"{PLAIN} required password s3cret;", "Value not specified for option 1"),
    ],
)
def test_an_error_in_jaas_text_shows_no_secret(text, said):
    with pytest.raises(ConfigError) as error:
        parse_jaas(text, "key")

    assert said in str(error.value)
    assert str(error.value).startswith("key: ")
    assert not {"s3cret", "12345"} & set(str(error.value).split())


def test_a_module_is_printed_without_its_options():
    assert "b" not in repr(parse_jaas('m required password="b";', "key")[0]).replace("Module", "")
