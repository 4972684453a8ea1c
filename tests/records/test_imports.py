"""What importing `records` costs a tool: the set of modules, not milliseconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {
    "argparse", "asyncio", "collections", "cramjam", "dataclasses", "enum", "functools", "hypothesis", "inspect",
    "json", "numpy", "re", "typing", "zlib",
}  # fmt: skip


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import records.metadata.topics",
        "import records.codec, records.messages.fetch, records.registry, records.headers",
        "import records.frame, records.uuids, records.printing.json_form, records.printing.json_text",
        "import records.frame as f, records.metadata.topics as t; f.encode_record(t.TopicRecord('a', bytes(16)), 0)",
    ],
)
def test_messages_and_their_codec_import_nothing_heavy(code: str) -> None:
    assert loaded(code) & HEAVY == set()


def test_one_family_of_messages_is_imported_without_the_others() -> None:
    found = {
        name for name in loaded("from records.registry import *; request_class(1)") if name.startswith("records.m")
    }

    assert found == {"records.messages", "records.messages.fetch"}
