"""What the values of a key may be."""

from __future__ import annotations

import pytest

from controller.config.values.definition import Definition, Importance, Key, Type
from controller.config.values.valid import ListOf, OneOf, at_least, between
from records.java.config_error import ConfigError
from tests.controller.config.values.test_definition import key


def test_all_keys_are_parsed_and_undefined_keys_are_left_out() -> None:
    definition = Definition(
        Key("a", Type.INT, 5, at_least(0), Importance.LOW),
        Key("b", Type.STRING, None, OneOf("x"), Importance.LOW),
    )

    values = definition.parse({"a": "7", "c": "x"})

    assert values == {"a": 7, "b": None}


def test_duplicates_of_a_list_are_dropped_with_a_warning() -> None:
    warnings: list[str] = []

    value = key(Type.LIST, (), ListOf()).parse("x, y,x", warnings)

    assert value == ("x", "y")
    assert warnings == [
        (
            'Configuration key "a" contains duplicate values. Duplicates will be removed. The original value is: '
            "[x, y, x], the updated value is: [x, y]"
        )
    ]


def test_a_null_number_is_refused_if_the_key_has_a_check() -> None:
    with pytest.raises(ConfigError, match="Invalid value null for configuration a: Value must be non-null"):
        key(Type.INT, 1, between(0, 1)).parse(None)
