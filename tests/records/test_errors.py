"""Error codes: Kafka's names, texts and exceptions; unknown codes survive."""

from __future__ import annotations

import re

from records.errors import ApiError, Error, error_name, error_of, error_text, is_retriable
from tests.records.guide_comparison import guide


def test_the_codes_run_from_unknown_server_error_without_a_gap() -> None:
    assert [error.value for error in Error] == list(range(-1, 137))


def test_names_and_codes_are_those_of_the_public_guide() -> None:
    rows = [(row.name, row.code, row.is_retriable) for row in guide("4.1").errors]

    assert len(rows) > 130
    assert rows == [(error.name, error.value, error.is_retriable) for error in Error][: len(rows)]


def test_a_code_has_the_text_and_the_exception_of_stock() -> None:
    assert error_text(3) == "This server does not host this topic-partition."
    assert Error.UNKNOWN_TOPIC_OR_PARTITION.exception == "UnknownTopicOrPartitionException"
    assert Error.CONTROLLER_ID_NOT_REGISTERED.text == "The given controller ID was not registered."
    assert (Error.NONE.text, Error.NONE.exception) == ("NONE", "")


def test_each_code_has_an_exception_and_a_text_of_its_own() -> None:
    others = [error for error in Error if error is not Error.NONE]

    assert all(re.fullmatch(r"[A-Z]\w+", error.exception) for error in others)
    assert all(error.text.endswith(".") for error in others)
    assert len({error.exception for error in others}) == len(others)


def test_an_unknown_code_survives_as_a_number() -> None:
    assert error_of(41) is Error.NOT_CONTROLLER
    assert error_of(9999) == 9999
    assert not isinstance(error_of(9999), Error)
    assert error_name(9999) == "9999"
    assert error_name(41) == "NOT_CONTROLLER"
    assert error_text(9999) == Error.UNKNOWN_SERVER_ERROR.text
    assert not is_retriable(9999)
    assert is_retriable(41)


def test_an_error_has_its_own_text_or_stocks() -> None:
    assert str(ApiError(Error.INVALID_PARTITIONS, "partitions is 0")) == "INVALID_PARTITIONS: partitions is 0"
    assert ApiError(Error.INVALID_PARTITIONS).text == "Number of partitions is below 1."
