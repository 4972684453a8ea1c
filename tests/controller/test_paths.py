"""A request passes through few files: see `tests/benchmarks/paths.py`, whose `--list` says where a path grew."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.benchmarks.paths import measure

if TYPE_CHECKING:
    from pathlib import Path


def test_a_request_passes_no_more_files_than_it_did(tmp_path: Path) -> None:
    create_topics, heartbeat = asyncio.run(measure(tmp_path)).values()

    # A step that takes over 1 ms passes one file more, `longest_step`.
    assert len(create_topics.files) <= 59 + 1
    assert len(create_topics.calls) <= 171 + 4
    assert len(heartbeat.files) <= 19 + 1
    assert len(heartbeat.calls) <= 41 + 2
