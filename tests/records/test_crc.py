"""CRC-32C, and the modules that it imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import crc32c as package
from hypothesis import given
from hypothesis import strategies as st

from records.crc import crc32c

ROOT = Path(__file__).parents[2]


def test_the_check_value_of_crc32c() -> None:
    assert crc32c(b"123456789") == 0xE3069283


@given(st.binary(), st.binary())
def test_the_checksum_equals_the_packages_and_can_be_continued(first: bytes, second: bytes) -> None:
    assert crc32c(second, crc32c(memoryview(first))) == package.crc32c(first + second)


def test_reading_logs_loads_the_extension_alone() -> None:
    code = "import sys, records.batch; print('crc32c' in sys.modules, 'importlib.metadata' in sys.modules)"

    output = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert output.split() == ["False", "False"]
