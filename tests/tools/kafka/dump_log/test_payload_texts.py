from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from records.printing.json_form import to_json
from records.printing.json_text import json_text
from records.registry import METADATA_RECORDS, metadata_class
from records.schema import schema_of
from records.strategies import messages
from tools.kafka.dump_log.payload_texts import text_writer


def versions() -> list[tuple[type, int]]:
    classes = [metadata_class(record_type) for record_type in METADATA_RECORDS]
    return [
        (cls, version)
        for cls in classes
        for version in range(schema_of(cls).versions[0], schema_of(cls).versions[1] + 1)
    ]


@cache
def strategy(cls: type, version: int) -> some.SearchStrategy[Any]:
    """Made once: most of the time of an example would go into it."""
    return messages(cls, version)


@pytest.mark.parametrize(("cls", "version"), versions(), ids=lambda value: getattr(value, "__name__", str(value)))
@given(data=some.data())
def test_the_text_equals_the_json_form(cls: type, version: int, data: some.DataObject) -> None:
    message = data.draw(strategy(cls, version))

    assert text_writer(cls, version)(message) == json_text(to_json(message, version))
