from __future__ import annotations

import pytest

from tools.kafka.shell.texts import instant_text


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00Z[UTC]"),
        (-1, "1969-12-31T23:59:59.999Z[UTC]"),
        (1795236953110, "2026-11-21T04:55:53.11Z[UTC]"),
        (1795236953100, "2026-11-21T04:55:53.1Z[UTC]"),
        (1795236953000, "2026-11-21T04:55:53Z[UTC]"),
        (1795236953007, "2026-11-21T04:55:53.007Z[UTC]"),
        (253402300800000, "+10000-01-01T00:00:00Z[UTC]"),
    ],
)
def test_a_time_is_written_as_java_writes_it(time_ms: int, text: str) -> None:
    assert instant_text(time_ms) == text
