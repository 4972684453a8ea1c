"""The system properties in KAFKA_OPTS."""

from __future__ import annotations

import pytest

from controller.config.system_properties import system_properties


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("-Xmx1g -Da=b -Da=c -Dempty= -Dflag", {"a": "c", "empty": "", "flag": ""}),
        ("-Da='b c' \"-Dd=e=f\"", {"a": "b c", "d": "e=f"}),
        ("-Da=b 'open", {"a": "b"}),
    ],
)
def test_definitions_are_read_as_a_shell_reads_them(text, found):
    assert system_properties({"KAFKA_OPTS": text}) == found
