"""Text becomes values as in Kafka's ConfigDef."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.config.values.definition import REQUIRED, Definition, Importance, Key, Type, parse_value, value_text
from records.java.config_error import ConfigError


def key(kind: Type, default: object = None, check: object = None) -> Key:
    return Key("a", kind, default, check, Importance.LOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Type.BOOLEAN, " TRUE ", True),
        (Type.BOOLEAN, "false", False),
        (Type.INT, " +7\t", 7),
        (Type.INT, "-2147483648", -2147483648),
        (Type.LONG, "9223372036854775807", 9223372036854775807),
        (Type.SHORT, "32767", 32767),
        (Type.DOUBLE, "1e-3", 0.001),
        (Type.DOUBLE, "0x1p3", 8.0),
        (Type.DOUBLE, "5f", 5.0),
        (Type.STRING, "  a b ", "a b"),
        (Type.LIST, " a , b,,c ", ("a", "b", "", "c")),
        (Type.LIST, "  ", ()),
        (Type.PASSWORD, " s ", "s"),
        (Type.CLASS, "a.B", "a.B"),
        (Type.INT, None, None),
    ],
)
def test_a_text_is_parsed_by_the_type_of_its_key(kind: Type, text: str, value: object) -> None:
    assert parse_value("a", kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (Type.BOOLEAN, "yes", "Invalid value yes for configuration a: Expected value to be either true or false"),
        (Type.INT, "many", "Invalid value many for configuration a: Not a number of type INT"),
        (Type.INT, "2147483648", "Invalid value 2147483648 for configuration a: Not a number of type INT"),
        (Type.INT, "1_000", "Invalid value 1_000 for configuration a: Not a number of type INT"),
        (Type.INT, "1" * 5000, f"Invalid value {'1' * 5000} for configuration a: Not a number of type INT"),
        (Type.SHORT, "40000", "Invalid value 40000 for configuration a: Not a number of type SHORT"),
        (Type.LONG, "1.0", "Invalid value 1.0 for configuration a: Not a number of type LONG"),
        (Type.DOUBLE, "1_0.5", "Invalid value 1_0.5 for configuration a: Not a number of type DOUBLE"),
        (Type.DOUBLE, "inf", "Invalid value inf for configuration a: Not a number of type DOUBLE"),
    ],
)
def test_an_invalid_text_is_reported_with_its_key(kind: Type, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_value("a", kind, text)

    assert str(error.value) == said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.001, "0.001"),
        (9.999e-4, "9.999E-4"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (1e-5, "1.0E-5"),
        (123456789.125, "1.23456789125E8"),
        (-2.5e-7, "-2.5E-7"),
        (100.0, "100.0"),
        (-0.0, "-0.0"),
        (1e21, "1.0E21"),
        (0.00123, "0.00123"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (True, "true"),
        (("a", "b"), "a,b"),
        ((), ""),
        (None, None),
    ],
)
def test_a_value_is_written_as_java_writes_it(value: object, text: str | None) -> None:
    assert value_text(value) == text  # type: ignore[arg-type]


@given(st.floats(allow_nan=False))
def test_a_number_that_is_written_reads_back_the_same(number: float) -> None:
    assert parse_value("a", Type.DOUBLE, value_text(number)) == number


def test_the_first_invalid_key_in_the_order_of_definition_is_reported() -> None:
    definition = Definition(key(Type.INT), Key("b", Type.INT, REQUIRED, None, Importance.LOW))

    with pytest.raises(ConfigError, match="configuration a"):
        definition.parse({"a": "x"})
    with pytest.raises(ConfigError) as error:
        definition.parse({})

    assert str(error.value) == 'Missing required configuration "b" which has no default value.'
