"""Which class is which message."""

from __future__ import annotations

import pytest

from records.registry import (
    APIS,
    METADATA_RECORDS,
    every_name,
    find_class,
    metadata_class,
    request_class,
    response_class,
)
from records.schema import schema_of


def test_every_class_is_found_by_its_key() -> None:
    for api_key, (name, _) in APIS.items():
        for cls, kind in ((request_class(api_key), "request"), (response_class(api_key), "response")):
            schema = schema_of(cls)
            assert (schema.name, schema.kind, schema.api_key) == (f"{name}{kind.capitalize()}", kind, api_key)
    for record_type, (name, _) in METADATA_RECORDS.items():
        schema = schema_of(metadata_class(record_type))
        assert (schema.name, schema.kind, schema.api_key) == (name, "metadata", record_type)


def test_every_name_leads_to_its_class() -> None:
    names = every_name()

    assert len(names) == len(set(names)) == 2 * len(APIS) + len(METADATA_RECORDS) + 16
    assert [find_class(name).__name__ for name in names] == names


def test_request_and_response_have_the_same_versions() -> None:
    for api_key in APIS:
        request, response = schema_of(request_class(api_key)), schema_of(response_class(api_key))
        assert (request.versions, request.served) == (response.versions, response.served)


def test_an_unknown_key_is_a_key_error() -> None:
    for ask, what in ((request_class, 95), (response_class, -1), (metadata_class, 6), (find_class, "Fetch")):
        with pytest.raises(KeyError):
            ask(what)  # type: ignore[arg-type]
