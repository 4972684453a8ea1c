"""Every class and version goes round through bytes, pieces and JSON, for messages that Hypothesis makes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from records.codec import decode, decode_prefix, encode, encode_parts
from records.generation.decoding import make_decoder
from records.printing.json_form import from_json, to_json
from records.printing.json_text import json_text, read_json
from records.registry import every_name, find_class
from records.schema import schema_of
from records.strategies import messages
from tests.records.test_golden_wire import without_unknown_tags

EXAMPLES = 6


@pytest.mark.parametrize("name", every_name())
def test_every_version_is_decoded_as_encoded(name: str) -> None:
    cls = find_class(name)
    first, last = schema_of(cls).versions
    for version in range(first, last + 1):
        goes_round(cls, version)


def goes_round(cls: type[Any], version: int) -> None:
    careful = make_decoder(schema_of(cls), version, careful=True)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(message=messages(cls, version, unknown_tags=True))
    def check(message: Any) -> None:
        data = encode(message, version)

        assert decode(cls, version, data) == message
        assert decode_prefix(cls, version, b"before" + data + b"after", 6) == (message, 6 + len(data))
        assert b"".join(encode_parts(message, version)) == data
        assert careful(data, 0, ["", 0]) == (message, len(data))
        text = json_text(to_json(message, version))
        assert from_json(cls, version, read_json(text)) == without_unknown_tags(message)

    check()
